// Tasks that run a sweep. They hand over each result as it is finished and, if requested, the lineage at the end.
#pragma once

#include "dataset.hpp"
#include "task.hpp"

namespace epsflow::python {

/// Starts a sweep of a loaded data set.
std::unique_ptr<Task> start_sweep(const PyDataset& data, const Variants& variants, const nb::dict& options,
                                  const Weights& weights, bool lineage);

}  // namespace epsflow::python
