// The sweep of one rank: its share of the points, with those of all others.
#pragma once

#include <epsflow/core/sweep.hpp>
#include <epsflow/parts/sweep.hpp>
#include <epsflow/pipeline/options.hpp>

namespace epsflow::parts {

/// run_each() of a rank. Clusters directly, without tables. Takes its turn on the engine.
PartFigures run_rank(const PointSet& share, const Devices& devices, const Sweep& sweep, const RunOptions& options,
                     const OnResult& on_result, const Observer& observer);

}  // namespace epsflow::parts
