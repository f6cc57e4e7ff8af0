// The lineage of a sweep over points that are in parts.
#pragma once

#include <cstddef>

#include <epsflow/core/sweep.hpp>
#include <epsflow/parts/exchange.hpp>
#include <epsflow/parts/sweep.hpp>
#include <epsflow/pipeline/lineage.hpp>
#include <epsflow/pipeline/options.hpp>

namespace epsflow::parts {

/// For a LineageBuilder of the results of run_each() over ranks with RunOptions::clusters: each rank has one and adds its results to it; that of the first
/// rank finishes the lineage, those of others nothing of use. Each keeps births of its own rows alone, and is asked for some of them, so
/// that add() is collective. share: rows of this rank. Collective. The exchange must outlive it.
[[nodiscard]] LineageBuilder::BirthsOf births_of_shares(Exchange& exchange, std::size_t share);

/// How the clusters of all variants lie in each other, of what run_each() takes: of ranks on the first that of one run over all points, on others
/// nothing. RunOptions::clusters, labels, keep and core_mask are set by it. The first rank holds O(clusters of all variants); each some times 4
/// bytes for each of its rows, and what run_each() takes. Throws as run_each() does.
[[nodiscard]] Lineage lineage(const PointSet& points, const Devices& devices, const Sweep& sweep,
                              const RunOptions& options = {}, const Observer& observer = {});

}  // namespace epsflow::parts
