// The neighbours of all points, as a result for the caller.
#pragma once

#include <cstdint>
#include <span>

#include <epsflow/core/buffer.hpp>
#include <epsflow/core/neighbors_view.hpp>
#include <epsflow/pipeline/options.hpp>
#include <epsflow/pipeline/point_set.hpp>

namespace epsflow {

/// Neighbours in compressed sparse rows, by input id: the neighbours of point i are ids[offsets[i] … offsets[i + 1]),
/// ascending, the point itself included.
struct Neighbors {
  Buffer<std::uint64_t> offsets;  ///< [n + 1]
  Buffer<std::uint32_t> ids;      ///< [pairs]
  Buffer<double> distances;       ///< [pairs], in the unit of eps, or empty

  [[nodiscard]] NeighborsView view() const noexcept { return {offsets.span(), ids.span(), distances.span()}; }
  [[nodiscard]] std::size_t size() const noexcept { return offsets.empty() ? 0 : offsets.size() - 1; }
  [[nodiscard]] std::uint64_t pairs() const noexcept { return offsets.empty() ? 0 : offsets[size()]; }
  [[nodiscard]] std::span<const std::uint32_t> row(std::size_t i) const noexcept {
    return ids.span().subspan(offsets[i], offsets[i + 1] - offsets[i]);
  }
};

enum class Distances : std::uint8_t { omit, include };

/// Returns all neighbours of all points within eps (inclusive; the same float64 test as run()). eps: not squared, in
/// the unit of the metric if it has one, else in the unit of the coordinates. Time: O(n + candidates + pairs · log r),
/// r the neighbours of a point. Memory: the result takes 4 bytes per pair (12 with distances) and 8 per point. It is
/// made from a NeighborTable, which exists until the result is complete. Both count in EngineOptions::memory. Weights
/// are ignored. Throws as run(), and ResourceError if both together do not fit.
[[nodiscard]] Neighbors neighbors(const PointSet& points, double eps, Distances distances = Distances::omit,
                                  const EngineOptions& engine = {}, const SearchOptions& options = {},
                                  const Observer& observer = {});

}  // namespace epsflow
