// A sweep over points that are in parts: each rank calls it with its share of them.
#pragma once

#include <cstdint>
#include <span>

#include <epsflow/core/metric.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/core/sweep.hpp>
#include <epsflow/parts/exchange.hpp>
#include <epsflow/parts/partition.hpp>
#include <epsflow/pipeline/engine.hpp>
#include <epsflow/pipeline/options.hpp>
#include <epsflow/pipeline/sweep.hpp>

namespace epsflow::parts {

/// What a rank had to do, and to send.
struct PartFigures {
  std::uint64_t points = 0;       ///< of its part
  std::uint64_t ghosts = 0;       ///< for the largest eps
  std::uint64_t sent_bytes = 0;   ///< to other ranks, points and labels included
  double distribute_seconds = 0;  ///< for cutting space, moving points to their parts and finding ghosts
  double cluster_seconds = 0;     ///< for all variants, labels brought back included
};

/// run_each() over the points of all ranks: row i of rank r counts as row i + Σ points of the ranks before r. Labels are those of one run over
/// all of them, bit for bit, however many ranks there are and wherever space is cut. On each rank on_result is given the labels and masks of
/// its own rows, and the counts of all; with RunOptions::clusters births of its own rows, and on the first rank the clusters of all, O(clusters).
/// Variants come in the same order everywhere, by descending eps and minpts. on_result and the exchange may be called from another thread,
/// but never from two at once.
///
/// Collective: every rank calls it with the same arguments but for `share`, `weights` and the machine. share: [host] [n of this rank × d].
/// weights: [host] [n of this rank] as for Dataset::weighted(), or none on any rank. partition: null, or where space is cut; then it has as many parts as there are ranks. Clusters directly, without tables. Each rank holds its share,
/// its part with ghosts out to one eps, their weights, and what clustering them takes; nothing that grows with all points.
///
/// Throws as run_each(); UsageError where the ranks differ in what must be the same, for options that parts do not have (verify, Keep::core, labels on a device, tables, tiles of a GPU), and for a box that is not more than two neighbourhoods wide; ResourceError for a part that takes more than the EngineOptions::memory of its rank, on all of them; Cancelled where another rank has
/// failed.
PartFigures run_each(Exchange& exchange, PointsView share, const Metric& metric, const Sweep& sweep,
                     const OnResult& on_result, const EngineOptions& engine = {}, const RunOptions& options = {},
                     const Observer& observer = {}, std::span<const double> weights = {},
                     const Partition* partition = nullptr);
/// The same by an engine of this rank alone, which stays for the next sweep: a GPU's first takes some .2 s more. Takes its turn.
PartFigures run_each(Exchange& exchange, PointsView share, const Metric& metric, const Sweep& sweep,
                     const OnResult& on_result, const Engine& engine, const RunOptions& options = {},
                     const Observer& observer = {}, std::span<const double> weights = {},
                     const Partition* partition = nullptr);

}  // namespace epsflow::parts
