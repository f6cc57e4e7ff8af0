// Maps of sweeps for Python: how clusters lie in each other, and what is recommended of them.
#pragma once

#include <nanobind/nanobind.h>

namespace epsflow::python {

void define_maps(nanobind::module_& m);

}  // namespace epsflow::python
