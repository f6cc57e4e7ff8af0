// Sweeps of which each process has a share of the points.
#pragma once

#include <nanobind/nanobind.h>

namespace epsflow::python {

void define_ranks(nanobind::module_& m);

}  // namespace epsflow::python
