#include <epsflow/index/candidate_runs.hpp>

#include <tbb/parallel_for.h>

namespace epsflow::index {

PackedLayout make_packed_layout(const Grid& grid) {
  constexpr std::size_t kGrain = 4096;
  struct Block {
    std::vector<Run> runs;
    std::uint64_t first_run = 0;
    std::uint64_t words = 0;
    std::uint64_t first_word = 0;
  };
  const std::size_t cells = grid.cells();
  const auto starts = grid.cell_starts();
  PackedLayout layout;
  layout.groups.starts = Buffer<std::uint32_t>(cells + 1);
  layout.groups.run_offsets = Buffer<std::uint64_t>(cells + 1);
  layout.first_words = Buffer<std::uint64_t>(cells + 1);

  // Offsets first count from the start of their block of cells, and are lifted once all blocks are known.
  std::vector<Block> blocks((cells + kGrain - 1) / kGrain);
  const auto for_each_block = [&](auto&& f) {
    tbb::parallel_for(std::size_t{0}, blocks.size(),
                      [&](std::size_t b) { f(blocks[b], b * kGrain, std::min(cells, (b + 1) * kGrain)); });
  };
  for_each_block([&](Block& block, std::size_t first, std::size_t last) {
    CandidateRuns candidates(grid, first);
    for (std::size_t cell = first;; candidates.next()) {
      layout.groups.starts[cell] = starts[cell];
      layout.groups.run_offsets[cell] = block.runs.size();
      layout.first_words[cell] = block.words;
      std::uint64_t words = 0;
      for (const Run& run : candidates.runs()) words += packed_words(run.size());
      block.words += words * (starts[cell + 1] - starts[cell]);
      block.runs.insert(block.runs.end(), candidates.runs().begin(), candidates.runs().end());
      if (++cell == last) return;
    }
  });
  std::uint64_t runs = 0;
  std::uint64_t words = 0;
  for (Block& block : blocks) {
    block.first_run = runs;
    block.first_word = words;
    runs += block.runs.size();
    words += block.words;
  }
  layout.groups.runs = Buffer<Run>(runs);
  for_each_block([&](Block& block, std::size_t first, std::size_t last) {
    for (std::size_t cell = first; cell < last; ++cell) {
      layout.groups.run_offsets[cell] += block.first_run;
      layout.first_words[cell] += block.first_word;
    }
    std::copy(block.runs.begin(), block.runs.end(), layout.groups.runs.begin() + block.first_run);
  });
  layout.groups.starts[cells] = starts[cells];
  layout.groups.run_offsets[cells] = runs;
  layout.first_words[cells] = words;
  return layout;
}

}  // namespace epsflow::index
