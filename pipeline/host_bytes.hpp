// What clustering takes of the host's memory, before it is taken.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <epsflow/clustering/cell_loops.hpp>

namespace epsflow {

/// Of a weight: it in whole units, by id and by position, and a sum.
inline constexpr std::uint64_t kBytesPerWeight = 32;

/// What clustering without a table takes on the CPU for each point, beside coordinates: the index, and the sets and labels of levels, minpts of an
/// eps. Measured: for two levels in three dimensions, float32, it takes 64 where this says 61, without the coordinates in the index's order.
[[nodiscard]] inline std::uint64_t host_bytes(std::size_t levels, bool weights) {
  constexpr std::uint64_t kOfIndex = 30;
  constexpr std::uint64_t kOfLevel = 17;
  return kOfIndex + kOfLevel * std::min(levels, clustering::kLevelsAtOnce) + (weights ? kBytesPerWeight : 0);
}

/// Of a point of a part besides.
inline constexpr std::uint64_t kHostBytesPerPartPoint = 24;
/// Share of the memory that labels may take there, as a divisor, if those of one minpts take less.
inline constexpr std::uint64_t kHostLabelShare = 4;

}  // namespace epsflow
