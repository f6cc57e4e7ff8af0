// Distances to nearest points for Python, and what they say about eps.
#pragma once

#include <nanobind/nanobind.h>

namespace epsflow::python {

void define_nearest(nanobind::module_& m);

}  // namespace epsflow::python
