// Estimates of the host memory of a clustering, before it is allocated.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <epsflow/clustering/cell_loops.hpp>

namespace epsflow {

/// Bytes of a weight: its units (WeightScale) by id and by position, 8 bytes each, and a prefix sum of 16 bytes.
inline constexpr std::uint64_t kBytesPerWeight = 32;

/// Returns the bytes per point of clustering without a table on the CPU: the index, the sets and labels of the levels
/// that are clustered at once, and weights if there are any. The coordinates, as given and in the order of the index,
/// are not included. levels: the number of minpts of one eps. Measured: about 64 for two levels of float32 points in
/// three dimensions.
[[nodiscard]] inline std::uint64_t host_bytes(std::size_t levels, bool weights) {
  constexpr std::uint64_t kOfIndex = 30;
  constexpr std::uint64_t kOfLevel = 17;
  return kOfIndex + kOfLevel * std::min(levels, clustering::kLevelsAtOnce) + (weights ? kBytesPerWeight : 0);
}

/// Bytes per point that clustering in parts takes in addition to host_bytes().
inline constexpr std::uint64_t kHostBytesPerPartPoint = 24;
/// In parts, the labels of several minpts may wait for the labels of other parts. They may take the memory budget
/// divided by this, but always as much as the labels of one minpts.
inline constexpr std::uint64_t kHostLabelShare = 4;

}  // namespace epsflow
