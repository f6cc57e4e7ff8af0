#include <epsflow/index/candidate_ranges.hpp>

#include <tbb/parallel_for.h>

namespace epsflow::index {

PackedLayout make_packed_layout(const SearchIndex& index) {
  constexpr std::size_t kGrain = 4096;
  struct Block {
    std::vector<Range> ranges;
    std::uint64_t first_range = 0;
    std::uint64_t words = 0;
    std::uint64_t first_word = 0;
  };
  const std::size_t groups = index.groups();
  const auto starts = index.group_starts();
  PackedLayout layout;
  layout.groups.starts = Buffer<std::uint32_t>(groups + 1);
  layout.groups.range_offsets = Buffer<std::uint64_t>(groups + 1);
  layout.first_words = Buffer<std::uint64_t>(groups + 1);

  // Offsets first count from the start of their block of groups, and are lifted once all blocks are known.
  std::vector<Block> blocks((groups + kGrain - 1) / kGrain);
  const auto for_each_block = [&](auto&& f) {
    tbb::parallel_for(std::size_t{0}, blocks.size(),
                      [&](std::size_t b) { f(blocks[b], b * kGrain, std::min(groups, (b + 1) * kGrain)); });
  };
  for_each_block([&](Block& block, std::size_t first, std::size_t last) {
    CandidateRanges candidates(index, first);
    for (std::size_t group = first;; candidates.next()) {
      layout.groups.starts[group] = starts[group];
      layout.groups.range_offsets[group] = block.ranges.size();
      layout.first_words[group] = block.words;
      std::uint64_t words = 0;
      for (const Range& range : candidates.ranges()) words += packed_words(range.size());
      block.words += words * (starts[group + 1] - starts[group]);
      block.ranges.insert(block.ranges.end(), candidates.ranges().begin(), candidates.ranges().end());
      if (++group == last) return;
    }
  });
  std::uint64_t ranges = 0;
  std::uint64_t words = 0;
  for (Block& block : blocks) {
    block.first_range = ranges;
    block.first_word = words;
    ranges += block.ranges.size();
    words += block.words;
  }
  layout.groups.ranges = Buffer<Range>(ranges);
  for_each_block([&](Block& block, std::size_t first, std::size_t last) {
    for (std::size_t group = first; group < last; ++group) {
      layout.groups.range_offsets[group] += block.first_range;
      layout.first_words[group] += block.first_word;
    }
    std::copy(block.ranges.begin(), block.ranges.end(), layout.groups.ranges.begin() + block.first_range);
  });
  layout.groups.starts[groups] = starts[groups];
  layout.groups.range_offsets[groups] = ranges;
  layout.first_words[groups] = words;
  return layout;
}

}  // namespace epsflow::index
