// A sweep over points wherever they are, by all devices that are there: the GPUs of a host, parts that take turns, ranks.
#pragma once

#include <cstdint>
#include <span>

#include <epsflow/core/sweep.hpp>
#include <epsflow/parts/choose_sharing.hpp>
#include <epsflow/parts/engines.hpp>
#include <epsflow/parts/exchange.hpp>
#include <epsflow/parts/partition.hpp>
#include <epsflow/parts/point_set.hpp>
#include <epsflow/pipeline/engine.hpp>
#include <epsflow/pipeline/options.hpp>
#include <epsflow/pipeline/sweep.hpp>

namespace epsflow {

/// What works on points that no engine has loaded yet. Where nothing is given it is an engine with the default options.
struct Devices {
  /// They stay for later sweeps; each takes its turns with whatever else it does.
  std::span<const Engine> engines = {};
  /// In place of engines: as many are made as the sweep needs, and are gone afterwards. A single one is on the backend that suits the points
  /// (parts::suited()).
  std::span<const EngineOptions> options = {};
  /// With the points of several ranks, of which this process, or thread, is one: how they exchange what they know. A rank has one engine.
  parts::Exchange* ranks = nullptr;
  /// How the engines of a process share the sweep, its parts being a multiple of the engines; null for parts::choose_sharing()'s.
  const parts::SharingAnswer* sharing = nullptr;
  /// Where space is cut between ranks, with as many parts as there are ranks; null where it is found out.
  const parts::Partition* cuts = nullptr;
};

/// What a rank had to do, and to send.
struct PartFigures {
  std::uint64_t points = 0;       ///< of its part
  std::uint64_t ghosts = 0;       ///< for the largest eps
  std::uint64_t sent_bytes = 0;   ///< to other ranks, points and labels included
  double distribute_seconds = 0;  ///< for cutting space, moving points to their parts and finding ghosts
  double cluster_seconds = 0;     ///< for all variants, labels brought back included
};

/// Clusters the points under every variant, and hands the results to on_result: those of one run over all points, bit for bit, whatever the
/// devices are, and wherever space is cut. Variants come in any order. on_result and the callbacks of `observer` but before_stage are called
/// one at a time, from any thread. Of parts nothing is traced. Where parts of a process turn out not to fit there are twice as many, three
/// times at most, or one run where a device holds all points. Returns zeros without ranks.
///
/// With ranks it is collective: all call it with the same arguments but for points and machine. Row i of rank r counts as row i + Σ points of
/// the ranks before r. On each rank on_result is given the labels and masks of its own rows, and the counts of all; with RunOptions::clusters
/// births of its own rows, and on the first rank the clusters of all, O(clusters). Variants come in the same order everywhere, by descending
/// eps and minpts. Weights are there on all ranks or on none. Each rank holds its rows, its part with ghosts out to one eps, their weights, and
/// what clustering them takes; nothing that grows with all points.
///
/// Throws as run(); UsageError for what parts do not have (slices, verify, Keep::core, labels on a device, tables, tiles of a GPU) where ranks
/// or Devices::sharing ask for parts, where ranks differ in what must be the same, for a box that is not more than two neighbourhoods wide
/// where one run cannot take the place of parts, and for members of PointSet and Devices that contradict each other; ResourceError for a part
/// that takes more than the EngineOptions::memory of its rank, on all of them; Cancelled where another rank has failed.
PartFigures run_each(const PointSet& points, const Devices& devices, const Sweep& sweep, const RunOptions& options,
                     const OnResult& on_result, const Observer& observer = {});

}  // namespace epsflow
