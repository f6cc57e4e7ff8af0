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

/// Builds the index of one eps and counts neighbours, up to most_minpts. By cells that are cliques where the data allow
/// it, else point by point. `points`, `memory`, `pinned`, `cancel` and `marks` must outlive it; the GPU must be the
/// current one. most_minpts, least_minpts: of all variants to come. Memory: about 40 bytes a point in two dimensions,
/// beside the points and the labels. grid: of the points for eps, where there is one already; then it goes point by point.
/// Throws DeviceOutOfMemory, Cancelled.
[[nodiscard]] std::unique_ptr<DeviceClustering> make_device_clustering(const DevicePoints& points, double eps,
                                                                       std::uint32_t most_minpts,
                                                                       std::uint32_t least_minpts, DeviceMemory& memory,
                                                                       PinnedPool& pinned, const CancelToken& cancel,
                                                                       std::shared_ptr<const DeviceGrid> grid = nullptr,
                                                                       PhaseMarks* marks = nullptr);

}  // namespace epsflow::gpu
