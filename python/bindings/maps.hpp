// Maps of sweeps for Python: how clusters lie in each other.
#pragma once

#include <nanobind/nanobind.h>

namespace epsflow::python {

void define_maps(nanobind::module_& m);

}  // namespace epsflow::python
