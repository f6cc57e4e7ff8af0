// Estimates of the host memory of a clustering, before it is allocated.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <epsflow/clustering/cell_loops.hpp>

namespace epsflow {

/// Bytes of a weight: its whole units, by id and by position, and a sum.
inline constexpr std::uint64_t kBytesPerWeight = 32;

/// Returns the bytes per point, besides coordinates, of clustering without a table on the CPU: the index, and the sets
/// and labels of levels (minpts of an eps). Measured: about 64 for two levels in three dimensions, float32, without the
/// coordinates in the index's order.
[[nodiscard]] inline std::uint64_t host_bytes(std::size_t levels, bool weights) {
  constexpr std::uint64_t kOfIndex = 30;
  constexpr std::uint64_t kOfLevel = 17;
  return kOfIndex + kOfLevel * std::min(levels, clustering::kLevelsAtOnce) + (weights ? kBytesPerWeight : 0);
}

/// Additional bytes of a point of a part.
inline constexpr std::uint64_t kHostBytesPerPartPoint = 24;
/// Labels may take the memory divided by this, if the labels of one minpts take less.
inline constexpr std::uint64_t kHostLabelShare = 4;

}  // namespace epsflow
