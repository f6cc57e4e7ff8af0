// The entry point: a sweep over points in any place, on one engine, several GPUs, parts of space, or ranks.
#pragma once

#include <cstdint>
#include <span>

#include <epsflow/core/sweep.hpp>
#include <epsflow/parts/choose_sharing.hpp>
#include <epsflow/parts/communicator.hpp>
#include <epsflow/parts/engines.hpp>
#include <epsflow/parts/partition.hpp>
#include <epsflow/pipeline/engine.hpp>
#include <epsflow/pipeline/options.hpp>
#include <epsflow/pipeline/point_set.hpp>
#include <epsflow/pipeline/sweep.hpp>

namespace epsflow {

/// The devices that run a sweep. If all members are left out, one engine with the default options runs it.
struct Devices {
  /// Engines that exist already and outlive the sweep. A sweep waits until an engine has finished its earlier work.
  std::span<const Engine> engines = {};
  /// Use instead of `engines`: the sweep makes as many engines with these options as it needs, and destroys them at its
  /// end. A single entry runs on the backend that choose_backend() returns for the points.
  std::span<const EngineOptions> options = {};
  /// The communicator, if points are distributed over ranks. The caller is one of the ranks; a rank has one engine.
  parts::Communicator* ranks = nullptr;
  /// How the engines of one process share the sweep; SharingAnswer::parts must be at least 1. If null,
  /// parts::choose_sharing() decides.
  const parts::SharingAnswer* sharing = nullptr;
  /// The cuts between the parts of ranks, one part for each rank. If null, they are computed from the points.
  const parts::Partition* cuts = nullptr;
};

/// How much work and communication one rank had.
struct PartFigures {
  std::uint64_t points = 0;       ///< points of its part, without ghosts
  std::uint64_t ghosts = 0;       ///< ghosts of its part for the largest eps
  std::uint64_t sent_bytes = 0;   ///< bytes sent to other ranks, points and labels included
  double distribute_seconds = 0;  ///< wall time for cutting space, sending points to their parts and finding ghosts
  double cluster_seconds = 0;     ///< wall time for clustering all variants and returning the labels
};

/// Clusters the points under every variant of the sweep and calls on_result with each result. The labels equal the
/// labels of one run over all points, bit for bit, for any devices and any cuts of space. Variants come in any order.
/// on_result and the callbacks of `observer` except before_stage are called one at a time, from any thread. Parts of
/// space are not traced. If parts do not fit into memory, the sweep is tried with twice as many, up to three times, or
/// as one run if one device can hold all points. Returns zeros without ranks.
///
/// With ranks the call is collective: all ranks pass the same arguments, except their rows, weights and engines. Row i
/// of rank r has the id i + Σ points of the ranks before r. All ranks with rows have the same dimensions and precision.
/// On each rank on_result gets the labels and masks of its own rows, and the counts of all rows. With
/// RunOptions::clusters each rank gets the core_since of its own rows, and the first rank the clusters of all ranks,
/// O(clusters). All ranks get the variants in the same order, by descending eps and minpts. Either all ranks have
/// weights or none has. A rank holds its rows, its part with ghosts out to two eps, their weights, and the memory of
/// clustering; no rank holds anything that grows with the number of all points.
///
/// Throws as run(). Throws UsageError if ranks or Devices::sharing request parts for a feature that parts lack (slices,
/// verify, Keep::core, labels on a device, tables, tiles of a GPU), if ranks pass different arguments, if a side of a
/// periodic box is not longer than about 2·eps and one run cannot replace the parts, and if members of PointSet and
/// Devices contradict each other. Throws ResourceError on all ranks if the part of one rank needs more than its
/// EngineOptions::memory, and Cancelled if another rank, a thread, has failed.
PartFigures run_each(const PointSet& points, const Devices& devices, const Sweep& sweep, const RunOptions& options,
                     const OnResult& on_result, const Observer& observer = {});

}  // namespace epsflow
