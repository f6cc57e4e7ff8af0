// DBSCAN of one radius that follows points which come and go, for several minpts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <epsflow/clustering/cluster_matching.hpp>
#include <epsflow/windows/window_clusters.hpp>

namespace epsflow::windows {

/// Points that change in one step. A handle is a number below `handles` that a point keeps while it stays.
struct PointChanges {
  std::span<const std::uint32_t> leaving;   ///< handles
  std::span<const std::uint32_t> arriving;  ///< handles of other points
  std::span<const double> x;                ///< [arriving × d]
  std::span<const std::uint64_t> ids;       ///< by handle; rows are in the order of ids
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

  /// The clusters of the minpts with this index. Cluster k has the label k.
  [[nodiscard]] virtual const std::vector<CoreSet>& clusters(std::size_t level) const = 0;
  /// Returns the core points that clusters before and after the last step share, sorted. O(cells).
  [[nodiscard]] virtual std::vector<SharedCore> shared(std::size_t level) const = 0;
  /// Writes label and core mark of each row. rows: [n] handles. borders: [clusters] gets the number of border points.
  struct Output {
    std::span<std::int32_t> labels;
    std::span<std::uint8_t> core;
    std::span<std::uint64_t> borders;
  };
  virtual void write(std::size_t level, std::span<const std::uint32_t> rows, const Output& out) const = 0;
  [[nodiscard]] virtual std::uint64_t bytes() const noexcept = 0;
};

}  // namespace epsflow::windows
