// The lineage of a sweep over points that are in parts.
#pragma once

#include <cstddef>

#include <epsflow/core/sweep.hpp>
#include <epsflow/parts/exchange.hpp>
#include <epsflow/parts/sweep.hpp>
#include <epsflow/pipeline/lineage.hpp>
#include <epsflow/pipeline/options.hpp>

namespace epsflow::parts {

/// Returns the function by which a LineageBuilder reads births that are distributed over ranks. Each rank has a LineageBuilder and adds its
/// results of run_each() with RunOptions::clusters to it; add() is then collective. Only the builder of the first rank returns the lineage.
/// share: number of rows of this rank. Collective. The exchange must outlive the function.
[[nodiscard]] LineageBuilder::BirthsOf births_of_shares(Exchange& exchange, std::size_t share);

/// Returns the lineage of a sweep with the arguments of run_each(). With ranks the first rank gets the lineage of all points and the others an
/// empty one. Overrides RunOptions::clusters, labels, keep and core_mask. The first rank holds O(clusters of all variants). Every rank holds a few
/// times 4 bytes per row of its share, in addition to run_each(). Throws as run_each().
[[nodiscard]] Lineage lineage(const PointSet& points, const Devices& devices, const Sweep& sweep,
                              const RunOptions& options = {}, const Observer& observer = {});

}  // namespace epsflow::parts
