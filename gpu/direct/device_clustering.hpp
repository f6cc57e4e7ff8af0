// DBSCAN on the device without a neighbour table: points in, labels out, both in device memory.
#pragma once

#include <cstdint>
#include <memory>

#include <epsflow/core/cancel.hpp>
#include <epsflow/core/labels.hpp>
#include <epsflow/gpu/base/memory.hpp>
#include <epsflow/gpu/base/stream.hpp>
#include <epsflow/gpu/direct/phase_marks.hpp>
#include <epsflow/gpu/grid/device_grid.hpp>

namespace epsflow::gpu {

struct DirectTask;

/// The clusterings of one eps.
class DeviceClustering {
 public:
  DeviceClustering() = default;
  virtual ~DeviceClustering() = default;
  DeviceClustering(const DeviceClustering&) = delete;
  DeviceClustering& operator=(const DeviceClustering&) = delete;

  /// Labels of one variant. minpts must not rise from call to call, and lie between the least and the most that the
  /// object was made for. labels: [device] [n] in input order, written in full. core: [device] [n] 1 for core points,
  /// else 0; or null. Puts its work on stream() and waits for the summary, with which the labels are complete. Throws
  /// DeviceOutOfMemory, Cancelled.
  virtual LabelSummary cluster(std::uint32_t minpts, std::int32_t* labels, std::uint8_t* core) = 0;
  [[nodiscard]] virtual const Stream& stream() const = 0;
  /// Pairs of points that a faster test has left to float64 so far.
  [[nodiscard]] virtual std::uint64_t open_pairs() const { return 0; }
};

/// Builds the index of one eps and counts neighbours, up to the largest minpts, or sums weights. By cells that are cliques where
/// the data allow it, else point by point. What `task` refers to must outlive it; the GPU must be the current one. Memory: about
/// 40 bytes a point in two dimensions, beside the points and the labels, and with weights 24 more. grid: of the points for eps,
/// where there is one already; then it goes point by point. Throws DeviceOutOfMemory, Cancelled.
[[nodiscard]] std::unique_ptr<DeviceClustering> make_device_clustering(
    const DirectTask& task, std::shared_ptr<const DeviceGrid> grid = nullptr);

}  // namespace epsflow::gpu
