// The lineage of a sweep over points that are in parts.
#pragma once

#include <cstddef>
#include <span>

#include <epsflow/core/metric.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/core/sweep.hpp>
#include <epsflow/parts/exchange.hpp>
#include <epsflow/pipeline/lineage.hpp>
#include <epsflow/pipeline/options.hpp>
#include <epsflow/pipeline/sweep.hpp>

namespace epsflow::parts {

/// For a LineageBuilder of the results of run_each() with RunOptions::clusters: each rank has one and adds its results to it; that of the first
/// rank finishes the lineage, those of others nothing of use. Each keeps births of its own rows alone, and is asked for some of them, so
/// that add() is collective. share: rows of this rank. Collective. The exchange must outlive it.
[[nodiscard]] LineageBuilder::BirthsOf births_of_shares(Exchange& exchange, std::size_t share);

/// lineage() over the points of all ranks, to which the arguments are as to run_each(): on the first rank that of one run over all of them,
/// on others nothing. Collective. The first rank holds O(clusters of all variants); each some times 4 bytes for each row of its share, and
/// what run_each() takes. Throws as run_each() does.
[[nodiscard]] Lineage lineage(Exchange& exchange, PointsView share, const Metric& metric, const Sweep& sweep,
                              const EngineOptions& engine = {}, const RunOptions& options = {},
                              const Observer& observer = {}, std::span<const double> weights = {});

}  // namespace epsflow::parts
