// A sweep of a data set by the engine that has loaded it.
#pragma once

#include <epsflow/core/sweep.hpp>
#include <epsflow/pipeline/admission.hpp>
#include <epsflow/pipeline/engine.hpp>
#include <epsflow/pipeline/options.hpp>
#include <epsflow/pipeline/sweep.hpp>

namespace epsflow {

/// Calls on_result with each result as soon as it is finished: one at a time, in any order, from any thread. shared:
/// returns the next group of the sweep for this engine, if several engines share it; null if this one runs all groups.
/// Throws as run().
void run_dataset(const Dataset& data, const Sweep& sweep, const OnResult& on_result, const RunOptions& options,
                 const Observer& observer = {}, const MoreGroups& shared = nullptr);

}  // namespace epsflow
