// Sweeps, wherever the points are: tasks that hand over results as they come, and at their end the lineage, where it is asked for.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>

#include "arrays.hpp"
#include "dataset.hpp"
#include "options.hpp"
#include "task.hpp"

namespace epsflow::python {

/// Of points that an engine has loaded.
std::unique_ptr<Task> start_sweep(const PyDataset& data, const Variants& variants, const nanobind::dict& options,
                                  const Weights& weights, bool lineage);

void define_sweeps(nanobind::module_& m);

}  // namespace epsflow::python
