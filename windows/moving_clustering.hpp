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
  std::span<const std::uint32_t> arriving;  ///< handles, none of which is in `leaving`
  std::span<const double> x;                ///< [arriving × d]
  std::size_t handles;                      ///< every handle of a point that stays or arrives is less
};

/// Works in plain space (core/space.hpp), in up to three dimensions, without weights. Steps go one after another, on
/// the threads of the calling arena. After an exception the object may only be destroyed.
class MovingClustering {
 public:
  MovingClustering() = default;
  MovingClustering(const MovingClustering&) = delete;
  MovingClustering& operator=(const MovingClustering&) = delete;
  virtual ~MovingClustering() = default;

  /// Makes an object without points. Returns null if it would not support the points x: there are more than three
  /// dimensions, too many points, coordinates too far apart for the radius, or a radius below 2^-500. x: [n × dims] the
  /// points of the first step, or points near them. minpts: at least one.
  [[nodiscard]] static std::unique_ptr<MovingClustering> make(std::span<const double> x, std::size_t dims,
                                                              double radius, std::span<const std::uint32_t> minpts);

  /// Returns true if points may arrive together in the next step: they are near enough to be in cells, and there are
  /// not too many. Other points must not arrive. x: [arriving × d].
  [[nodiscard]] virtual bool holds(std::span<const double> x) const = 0;
  /// Takes a step. Costs about the neighbourhoods of the points that change, and a pass over all cells.
  virtual void step(const PointChanges& changes) = 0;

  /// Returns the clusters of the minpts with the index `level`, numbered by the first row of their core points, and the
  /// core points that they share with the clusters before the step. Writes label and core mark of each row. earlier:
  /// the number of clusters of this minpts before the step. Must be called once after each step for each minpts. O(n).
  [[nodiscard]] virtual CountedClusters read(std::size_t level, const RowOutput& rows, std::size_t earlier) = 0;
  [[nodiscard]] virtual std::uint64_t bytes() const noexcept = 0;
};

}  // namespace epsflow::windows
