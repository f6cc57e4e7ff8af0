// The points of a window, a set of points that arrive and leave in steps, in the memory of a GPU, and the counts of its
// clusters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <epsflow/clustering/cluster_matching.hpp>
#include <epsflow/core/device_array.hpp>
#include <epsflow/core/labels.hpp>
#include <epsflow/core/points.hpp>

namespace epsflow {

/// The points of a cluster in a window.
struct ClusterCounts {
  std::uint32_t first_row = 0;  ///< the smallest row of its core points
  std::uint32_t core = 0;       ///< the number of its core points
  std::uint32_t borders = 0;    ///< the number of its border points
};

/// Clusters of a step, and the core points that they share with the clusters of the step before, sorted by `before` and
/// then by `after`.
struct CountedClusters {
  std::vector<ClusterCounts> clusters;  ///< cluster k has the label k
  std::vector<SharedCore> shared;
};

/// The labels of a step. [device] [n] each, by row of the changed window.
struct DeviceLabelling {
  DeviceArray<std::int32_t> labels = {};
  DeviceArray<std::uint8_t> core = {};  ///< 1 for core points, else 0
  std::size_t clusters = 0;
};

/// Receives the labels and core marks of all rows on the host; both are resized.
struct HostLabelling {
  Labels& labels;
  std::vector<std::uint8_t>& core;
};

/// Rows of points in the memory of a GPU, in the order of their arrival. Not thread-safe; copies use the threads of the
/// calling arena. For each step call change(), then count() for every variant, then commit(). All functions wait. All
/// except commit() throw ResourceError; after that the object has the rows of the last commit().
class DeviceWindow {
 public:
  DeviceWindow() = default;
  DeviceWindow(const DeviceWindow&) = delete;  // its owner refers to it
  DeviceWindow& operator=(const DeviceWindow&) = delete;
  virtual ~DeviceWindow() = default;

  /// Returns the rows of the last commit() without those that leave, followed by those that enter, as float64. The
  /// result is valid until the next change(). leaving: rows, ascending. entering: rows of `arriving`, ascending.
  virtual DevicePointsView change(std::span<const std::uint32_t> leaving, PointsView arriving,
                                  std::span<const std::uint32_t> entering) = 0;
  /// Counts the clusters of the changed rows for a variant (its index), and the core points that they share with
  /// clusters of the last commit(). Copies the labels on the device for the next step, as the caller may change them.
  [[nodiscard]] virtual CountedClusters count(std::size_t variant, const DeviceLabelling& labelling) = 0;
  /// Counts in the same way, and copies the labelling to the host meanwhile.
  [[nodiscard]] virtual CountedClusters count(std::size_t variant, const DeviceLabelling& labelling,
                                              const HostLabelling& host) = 0;
  /// Makes the changed rows, and the labels of count(), the state before the next change().
  virtual void commit() noexcept = 0;
};

/// The interface of a backend that holds windows in the memory of its device.
class DeviceWindows {
 public:
  DeviceWindows() = default;
  DeviceWindows(const DeviceWindows&) = delete;
  DeviceWindows& operator=(const DeviceWindows&) = delete;
  virtual ~DeviceWindows() = default;

  /// Makes a window without points. variants: their number. The backend must outlive it.
  [[nodiscard]] virtual std::unique_ptr<DeviceWindow> make_window(std::size_t dims, std::size_t variants) = 0;
};

}  // namespace epsflow
