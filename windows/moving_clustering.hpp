// DBSCAN of one radius that follows points which come and go, for several minpts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <epsflow/clustering/device_window.hpp>
#include <epsflow/windows/point_owners.hpp>

namespace epsflow::windows {

/// Points that change in one step. A handle is a number that a point keeps while it stays.
struct PointChanges {
  std::span<const std::uint32_t> leaving;   ///< handles
  std::span<const std::uint32_t> arriving;  ///< handles of other points
  std::span<const double> x;                ///< [arriving × d]
  std::size_t handles;                      ///< all handles are less
};

/// It works in plain space, in up to three dimensions. Steps go one after another, on the threads of the calling arena.
/// After an exception it may only be destroyed.
class MovingClustering {
 public:
  MovingClustering() = default;
  MovingClustering(const MovingClustering&) = delete;
  MovingClustering& operator=(const MovingClustering&) = delete;
  virtual ~MovingClustering() = default;

  /// Returns null if points [n × dims] with this radius need another way: too many dimensions or points, or coordinates
  /// too large for the radius. x: points near those that will come. minpts: at least one.
  [[nodiscard]] static std::unique_ptr<MovingClustering> make(std::span<const double> x, std::size_t dims,
                                                              double radius, std::span<const std::uint32_t> minpts);

  /// Returns true if the points are near enough to be in cells. Others must not arrive.
  [[nodiscard]] virtual bool holds(std::span<const double> x) const = 0;
  /// Takes a step. Costs about the neighbourhoods of the points that change, and a pass over all cells.
  virtual void step(const PointChanges& changes) = 0;

  /// Numbers the clusters of the minpts with this index, and writes label and core mark of each row. earlier: the
  /// number of clusters before the step. Once after each step. O(n).
  [[nodiscard]] virtual CountedClusters read(std::size_t level, const RowOutput& rows, std::size_t earlier) = 0;
  [[nodiscard]] virtual std::uint64_t bytes() const noexcept = 0;
};

}  // namespace epsflow::windows
