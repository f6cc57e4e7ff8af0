// Core points that are kept to assign other points to their clusters.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include <epsflow/core/cancel.hpp>
#include <epsflow/core/labels.hpp>
#include <epsflow/core/points.hpp>

namespace epsflow {

/// The core points of a clustering in a plain space.
struct CoreInput {
  PointsView points;                     ///< [host] [m × d], finite, transformed
  std::span<const std::int32_t> labels;  ///< [m] the cluster of each
  double radius = 0;                     ///< among the transformed points
};

/// Core points in the memory that a backend works on: immutable, thread-safe. Must not outlive the backend.
class KeptCore {
 public:
  KeptCore() = default;
  KeptCore(const KeptCore&) = delete;
  KeptCore& operator=(const KeptCore&) = delete;
  virtual ~KeptCore() = default;

  /// Returns the bytes of host memory that it holds.
  [[nodiscard]] virtual std::uint64_t bytes() const = 0;
  /// Returns the bytes of host memory that assign() takes for n places, beside the labels.
  [[nodiscard]] virtual std::uint64_t bytes_for(std::uint64_t n) const = 0;
  /// Returns for each place the lowest label of a core point within the radius, else kNoise. places: [host] [n × d],
  /// transformed, finite. Returns nullopt if these places and the core points cannot be searched together. Throws
  /// Cancelled, ResourceError.
  [[nodiscard]] virtual std::optional<Labels> assign(std::span<const double> places,
                                                     const CancelToken& cancel) const = 0;
};

}  // namespace epsflow
