// Core points that a backend keeps, to find the clusters of other points by them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include <epsflow/core/cancel.hpp>
#include <epsflow/core/labels.hpp>
#include <epsflow/core/points.hpp>

namespace epsflow {

/// The core points of a clustering in a plain space (Space::plain()), after the metric has transformed them.
struct CoreInput {
  PointsView points;                     ///< [host] [m × d], finite
  std::span<const std::int32_t> labels;  ///< [m] the cluster of each, at least 0
  double radius = 0;                     ///< eps as a distance between transformed points
};

/// Core points in the memory that a backend works on (Backend::keep()): immutable, thread-safe. Must not outlive the
/// backend.
class StoredCore {
 public:
  StoredCore() = default;
  StoredCore(const StoredCore&) = delete;
  StoredCore& operator=(const StoredCore&) = delete;
  virtual ~StoredCore() = default;

  /// Returns the bytes of host memory that it holds.
  [[nodiscard]] virtual std::uint64_t bytes() const = 0;
  /// Returns the bytes of host memory that assign() takes for n points, beside `points` and the returned labels.
  [[nodiscard]] virtual std::uint64_t bytes_for(std::uint64_t n) const = 0;
  /// Returns for each of n points the lowest label of a core point within the radius, else kNoise. points: [host]
  /// [n × d] their coordinates, row-major, finite, transformed by the same metric. Returns nullopt if this
  /// object cannot search for these points; the caller must then search in another way. Throws Cancelled and
  /// ResourceError.
  [[nodiscard]] virtual std::optional<Labels> assign(std::span<const double> points,
                                                     const CancelToken& cancel) const = 0;
};

}  // namespace epsflow
