// A sweep of a data set by the engine that has loaded it.
#pragma once

#include <epsflow/core/sweep.hpp>
#include <epsflow/pipeline/admission.hpp>
#include <epsflow/pipeline/engine.hpp>
#include <epsflow/pipeline/options.hpp>
#include <epsflow/pipeline/sweep.hpp>

namespace epsflow {

/// Results go to on_result as they come: one at a time, in any order, from any thread. A few variants of an eps may be made together and come one
/// after the other. shared: hands out the groups of the sweep that this engine is to make, where several share it; null: all. Throws as run().
void run_dataset(const Dataset& data, const Sweep& sweep, const OnResult& on_result, const RunOptions& options,
                 const Observer& observer = {}, const MoreGroups& shared = nullptr);

}  // namespace epsflow
