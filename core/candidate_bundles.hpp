// Candidate bundles: each is a range of consecutive points that have the same candidates for neighbours.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <epsflow/core/buffer.hpp>

namespace epsflow {

/// Positions [begin, end).
struct Range {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;

  [[nodiscard]] std::uint32_t size() const noexcept { return end - begin; }
  friend bool operator==(const Range&, const Range&) = default;
};

/// Returns the non-empty ranges between successive cuts, which must ascend.
[[nodiscard]] inline std::vector<Range> ranges_between(std::span<const std::uint32_t> cuts) {
  std::vector<Range> ranges;
  for (std::size_t k = 1; k < cuts.size(); ++k) {
    if (cuts[k] > cuts[k - 1]) ranges.push_back({cuts[k - 1], cuts[k]});
  }
  return ranges;
}

/// The bundles of all n points of an index: [0, n) is divided into bundles, in order, and no bundle is empty. The
/// ranges of a bundle hold every neighbour of each of its points, the point itself included, for the eps of the index.
/// A bundle is a cell of a grid, or a tile.
struct CandidateBundles {
  Buffer<std::uint32_t> starts;         ///< [bundles + 1] first position of each bundle, and n
  Buffer<std::uint64_t> range_offsets;  ///< [bundles + 1] index in `ranges` of the bundle's first range, and the end
  Buffer<Range> ranges;                 ///< candidates of each bundle: non-empty, ascending, not touching each other

  [[nodiscard]] std::size_t size() const noexcept { return starts.size() - 1; }
  [[nodiscard]] Range rows_of(std::size_t bundle) const noexcept { return {starts[bundle], starts[bundle + 1]}; }
  [[nodiscard]] std::span<const Range> ranges_of(std::size_t bundle) const noexcept {
    return ranges.span().subspan(range_offsets[bundle], range_offsets[bundle + 1] - range_offsets[bundle]);
  }
  /// Returns the bundle that holds a position. O(log bundles).
  [[nodiscard]] std::size_t bundle_of(std::uint32_t position) const noexcept {
    return std::upper_bound(starts.begin(), starts.end(), position) - starts.begin() - 1;
  }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return starts.bytes() + range_offsets.bytes() + ranges.bytes(); }
};

}  // namespace epsflow
