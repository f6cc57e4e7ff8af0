// A sweep over points that devices cut into parts, one part for each device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <epsflow/core/cancel.hpp>
#include <epsflow/core/device_part.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/core/space.hpp>
#include <epsflow/parts/local_sweep.hpp>
#include <epsflow/parts/partition.hpp>
#include <epsflow/pipeline/options.hpp>
#include <epsflow/pipeline/sweep.hpp>
#include <epsflow/stages/group_by_eps.hpp>

namespace epsflow::parts {

/// The points of all parts, on the devices of the workers: worker p holds part p. Each device loads an equal share of
/// consecutive rows, finds their parts, and sends rows to the devices of these parts. Labels return the same way, so
/// the host reads no coordinates except to copy them.
class DeviceSweep {
 public:
  /// For points without weights, in a space without periodic axes. Returns null if a worker cannot cut points, if there
  /// are more than kMostDeviceParts workers, or if the cuts do not make one part for each worker. reach: the largest
  /// distance of ghosts. options, workers and stop must outlive the result. Throws ResourceError, Cancelled.
  [[nodiscard]] static std::unique_ptr<DeviceSweep> make(PointsView points, const Partition& cuts, double reach,
                                                         const RunOptions& options, std::span<const PartWorker> workers,
                                                         CancelToken& stop);

  /// Clusters all variants of one eps, by descending minpts. Calls on_result for each, from the calling thread. space:
  /// of the points. Throws ResourceError, InputError if coordinates are not finite, Cancelled.
  void cluster(const stages::EpsGroup& group, const Space& space, const OnResult& on_result);

 private:
  class Group;

  DeviceSweep(const RunOptions& options, std::span<const PartWorker> workers, CancelToken& stop, std::size_t rows);
  /// Calls f(p) for each device, each on a thread of its own.
  template <class F>
  void on_devices(F&& f) const;

  const RunOptions& options_;
  std::span<const PartWorker> workers_;
  CancelToken& stop_;
  std::size_t rows_;
  std::vector<std::unique_ptr<DevicePart>> parts_;
  std::vector<std::vector<std::unique_ptr<PeerBuffer>>> buffers_;  ///< [device][part] as the device has opened it
  std::vector<std::vector<std::uint64_t>> owned_begins_;  ///< [parts][devices + 1] first point from each device
};

}  // namespace epsflow::parts
