#include <epsflow/index/candidate_ranges.hpp>

#include <epsflow/core/parallel.hpp>

namespace epsflow::index {

PackedLayout make_packed_layout(const SearchIndex& index) {
  constexpr std::size_t kGrain = 4096;
  struct BundleBlock {
    std::vector<Range> ranges;
    std::uint64_t first_range = 0;
    std::uint64_t words = 0;
    std::uint64_t first_word = 0;
  };
  const std::size_t bundles = index.bundles();
  const auto starts = index.bundle_starts();
  PackedLayout layout;
  layout.bundles.starts = Buffer<std::uint32_t>(bundles + 1);
  layout.bundles.range_offsets = Buffer<std::uint64_t>(bundles + 1);
  layout.first_words = Buffer<std::uint64_t>(bundles + 1);

  // Offsets first count from the start of their block of bundles, and are shifted after all blocks are known.
  std::vector<BundleBlock> blocks((bundles + kGrain - 1) / kGrain);
  const auto for_each_block = [&](auto&& f) {
    parallel_for(blocks.size(), [&](std::size_t b) { f(blocks[b], b * kGrain, std::min(bundles, (b + 1) * kGrain)); });
  };
  for_each_block([&](BundleBlock& block, std::size_t first, std::size_t last) {
    CandidateRanges candidates(index, first);
    for (std::size_t bundle = first;; candidates.next()) {
      layout.bundles.starts[bundle] = starts[bundle];
      layout.bundles.range_offsets[bundle] = block.ranges.size();
      layout.first_words[bundle] = block.words;
      std::uint64_t words = 0;
      for (const Range& range : candidates.ranges()) words += packed_words(range.size());
      block.words += words * (starts[bundle + 1] - starts[bundle]);
      block.ranges.insert(block.ranges.end(), candidates.ranges().begin(), candidates.ranges().end());
      if (++bundle == last) return;
    }
  });
  std::uint64_t ranges = 0;
  std::uint64_t words = 0;
  for (BundleBlock& block : blocks) {
    block.first_range = ranges;
    block.first_word = words;
    ranges += block.ranges.size();
    words += block.words;
  }
  layout.bundles.ranges = Buffer<Range>(ranges);
  for_each_block([&](BundleBlock& block, std::size_t first, std::size_t last) {
    for (std::size_t bundle = first; bundle < last; ++bundle) {
      layout.bundles.range_offsets[bundle] += block.first_range;
      layout.first_words[bundle] += block.first_word;
    }
    std::copy(block.ranges.begin(), block.ranges.end(), layout.bundles.ranges.begin() + block.first_range);
  });
  layout.bundles.starts[bundles] = starts[bundles];
  layout.bundles.range_offsets[bundles] = ranges;
  layout.first_words[bundles] = words;
  return layout;
}

}  // namespace epsflow::index
