// The entry point: a sweep over points in any memory, on one engine, several GPUs, parts of space, or ranks.
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

/// The devices that run a sweep. If `engines` and `options` are empty, one engine with the default options runs it. For
/// a Dataset leave all members out: the engine that has loaded it runs the sweep.
struct Devices {
  /// Engines that exist already and outlive the sweep. A sweep waits until an engine has finished its earlier work.
  std::span<const Engine> engines = {};
  /// Use instead of `engines`; one of the two must be empty. The sweep makes an engine of each entry, but no more
  /// engines than it has work for, and destroys them at its end. If there is at most one entry, and no ranks,
  /// choose_backend() chooses its backend for the points.
  std::span<const EngineOptions> options = {};
  /// The communicator, if points are distributed over ranks. The caller is one of the ranks; a rank has one engine.
  parts::Communicator* ranks = nullptr;
  /// How the engines of one process share the sweep; null with ranks. SharingAnswer::parts must be from 1 to
  /// parts::kMostParts (256) for each engine, and at most 1024. If null, parts::choose_sharing() decides.
  const parts::SharingAnswer* sharing = nullptr;
  /// The cuts between the parts of ranks, one part for each rank. If null, they are computed from the points.
  const parts::Partition* cuts = nullptr;
};

/// How much work and communication one rank had.
struct PartFigures {
  std::uint64_t points = 0;       ///< points of its part, without ghosts
  std::uint64_t ghosts = 0;       ///< ghosts of its part for the largest eps; an upper bound if GPUs cut space
  std::uint64_t sent_bytes = 0;   ///< bytes sent to other ranks, all bytes that the communicator ever sent included
  double distribute_seconds = 0;  ///< wall time for cutting space, sending points to their parts and finding ghosts
  double cluster_seconds = 0;     ///< wall time for clustering all variants, returning the labels, and on_result
};

/// Clusters the points under every variant of the sweep and calls on_result with each result. The labels equal the
/// labels of one run over all points, bit for bit, for any devices and any cuts of space. Without ranks variants come
/// in any order. on_result and the callbacks of `observer` come one at a time, from any thread; only before_stage may
/// be called by several threads at once. Observer::trace records nothing if space is cut into parts.
///
/// If the parts of one process do not fit into memory, the variants that are not delivered yet are tried again: without
/// parts if SharingAnswer::fits_one, otherwise with twice as many parts, at most three times, and on the CPU at last
/// without parts if the points are in memory. With RunOptions::clusters it throws ResourceError instead if only some
/// variants of an eps are delivered. Without ranks the returned figures are 0.
///
/// With ranks the call is collective: all ranks pass the same arguments, except their rows, weights and engines. Row i
/// of rank r has the id i + Σ points of the ranks before r. All ranks with rows have the same dimensions and precision.
/// On each rank on_result gets the labels and masks of its own rows, and the counts of all rows. With
/// RunOptions::clusters each rank gets the core_since of its own rows, and the first rank also gets the clusters of all
/// ranks, which takes O(clusters) memory there. All ranks get the variants in the same order: the largest eps first,
/// and for one eps the largest minpts first. Either all ranks have weights or none has. A rank holds its rows, its part
/// with the ghosts within twice the largest eps of it, their weights, and the memory of clustering. So its memory
/// depends on the size of its share and its part, and not on the number of all points.
///
/// Throws as run(). Throws UsageError if ranks or Devices::sharing request parts for a feature that parts lack (slices,
/// verify, Keep::core, labels on a device, tables, tiles of a GPU), if ranks differ in sweep, metric, dimensions or
/// precision, if only some have weights, if a side of a periodic box is not longer than about 2·eps and one run cannot
/// replace the parts, and if members of PointSet and Devices contradict each other. Throws ResourceError on all ranks
/// if the part of one rank needs more than its EngineOptions::memory, and Cancelled if another rank, a thread, has
/// failed.
PartFigures run_each(const PointSet& points, const Devices& devices, const Sweep& sweep, const RunOptions& options,
                     const OnResult& on_result, const Observer& observer = {});

}  // namespace epsflow
