// A sweep that several runs share, each on a device of its own.
#pragma once

#include <epsflow/core/sweep.hpp>
#include <epsflow/pipeline/admission.hpp>
#include <epsflow/pipeline/engine.hpp>
#include <epsflow/pipeline/options.hpp>
#include <epsflow/pipeline/sweep.hpp>

namespace epsflow {

/// run_each() of those groups of a sweep that `shared` hands out; of all where it is null.
void run_some(const Dataset& data, const Sweep& sweep, const MoreGroups& shared, const OnResult& on_result,
              const RunOptions& options, const Observer& observer);

}  // namespace epsflow
