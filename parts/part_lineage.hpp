// The lineage of a sweep over points in parts.
#pragma once

#include <cstddef>

#include <epsflow/core/sweep.hpp>
#include <epsflow/parts/communicator.hpp>
#include <epsflow/parts/sweep.hpp>
#include <epsflow/pipeline/lineage.hpp>
#include <epsflow/pipeline/options.hpp>

namespace epsflow::parts {

/// Returns the function by which a LineageBuilder reads core_since (the cluster in which each point became core) if
/// they are distributed over ranks. Each rank adds its results of run_each() with RunOptions::clusters to its own
/// LineageBuilder; add() is then collective. Only the first rank's builder returns the lineage. share: number of rows
/// of this rank. Collective. The communicator must outlive the function.
[[nodiscard]] LineageBuilder::CoreSinceOf core_since_of_shares(Communicator& communicator, std::size_t share);

/// Returns the lineage of a sweep with the arguments of run_each(). With ranks the first rank gets the lineage of all
/// points and the others an empty one. Overrides RunOptions::clusters, labels, keep and core_mask. Holds O(clusters of
/// all variants) on the first rank, and a few times 4 bytes per row on every rank, in addition to run_each(). Throws as
/// run_each().
[[nodiscard]] Lineage lineage(const PointSet& points, const Devices& devices, const Sweep& sweep,
                              const RunOptions& options = {}, const Observer& observer = {});

}  // namespace epsflow::parts
