#include <epsflow/index/candidate_runs.hpp>

#include <tbb/parallel_for.h>

namespace epsflow::index {

PackedLayout make_packed_layout(const Grid& grid) {
  constexpr std::size_t kGrain = 4096;
  const std::size_t cells = grid.cells();
  const auto starts = grid.cell_starts();
  PackedLayout layout;
  layout.cell_starts = Buffer<std::uint32_t>(cells + 1);
  layout.run_offsets = Buffer<std::uint64_t>(cells + 1);
  layout.cell_words = Buffer<std::uint64_t>(cells + 1);
  std::copy(starts.begin(), starts.end(), layout.cell_starts.begin());

  const std::size_t blocks = (cells + kGrain - 1) / kGrain;
  const auto for_each_cell = [&](auto&& f) {
    tbb::parallel_for(std::size_t{0}, blocks, [&](std::size_t b) {
      const std::size_t last = std::min(cells, (b + 1) * kGrain);
      CandidateRuns candidates(grid, b * kGrain);
      while (true) {
        f(candidates.cell(), candidates.runs());
        if (candidates.cell() + 1 == last) return;
        candidates.next();
      }
    });
  };
  for_each_cell([&](std::size_t cell, std::span<const Run> runs) {
    std::uint64_t words = 0;
    for (const Run& run : runs) words += packed_words(run.size());
    layout.run_offsets[cell] = runs.size();
    layout.cell_words[cell] = words * (starts[cell + 1] - starts[cell]);
  });
  std::uint64_t runs = 0;
  std::uint64_t words = 0;
  for (std::size_t cell = 0; cell < cells; ++cell) {
    runs += std::exchange(layout.run_offsets[cell], runs);
    words += std::exchange(layout.cell_words[cell], words);
  }
  layout.run_offsets[cells] = runs;
  layout.cell_words[cells] = words;
  layout.runs = Buffer<Run>(runs);
  for_each_cell([&](std::size_t cell, std::span<const Run> found) {
    std::copy(found.begin(), found.end(), layout.runs.begin() + layout.run_offsets[cell]);
  });
  return layout;
}

}  // namespace epsflow::index
