// A sweep over points that devices cut into parts, one for each.
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

/// The points of all parts, on the devices of the workers: worker p has part p. Each device brings its share of the rows, tells their parts, and
/// sends those of other parts over to theirs. Labels go the same way back. So the host touches no coordinate but those that are copied.
class DeviceSweep {
 public:
  /// Of points without weights, in a space without closed axes; null where a worker cannot cut points. reach: how far ghosts reach at most.
  /// options, workers must outlive it. Throws ResourceError, Cancelled.
  [[nodiscard]] static std::unique_ptr<DeviceSweep> make(PointsView points, const Partition& cuts, double reach,
                                                         const RunOptions& options, std::span<const PartWorker> workers,
                                                         CancelToken& stop);

  /// The clusterings of one eps.
  void cluster(const stages::EpsGroup& group, const Space& space, const OnResult& on_result);

 private:
  class Group;

  DeviceSweep(const RunOptions& options, std::span<const PartWorker> workers, CancelToken& stop, std::size_t rows);
  /// Whether masks of core points are made.
  [[nodiscard]] bool masked() const noexcept;
  /// Calls f(p) for each device, on a thread of its own.
  template <class F>
  void on_devices(F&& f) const;

  const RunOptions& options_;
  std::span<const PartWorker> workers_;
  CancelToken& stop_;
  std::size_t rows_;
  std::vector<std::unique_ptr<DevicePart>> parts_;
  std::vector<std::vector<std::unique_ptr<DeviceRoom>>> rooms_;  ///< [parts][parts] as each device reaches those of all
  std::vector<std::vector<std::uint64_t>> places_;  ///< [parts][devices + 1] where the points that each brought begin
};

}  // namespace epsflow::parts
