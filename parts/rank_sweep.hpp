// The sweep of one rank over its share of the points, together with all other ranks.
#pragma once

#include <epsflow/core/sweep.hpp>
#include <epsflow/parts/sweep.hpp>
#include <epsflow/pipeline/options.hpp>

namespace epsflow::parts {

/// Implements run_each() for Devices::ranks. Clusters directly, without tables. Waits for the engine's earlier work.
PartFigures run_rank(const PointSet& share, const Devices& devices, const Sweep& sweep, const RunOptions& options,
                     const OnResult& on_result, const Observer& observer);

}  // namespace epsflow::parts
