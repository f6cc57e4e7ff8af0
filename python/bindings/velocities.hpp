// One data set under many velocities.
#pragma once

#include <nanobind/nanobind.h>

namespace epsflow::python {

void define_velocities(nanobind::module_& m);

}  // namespace epsflow::python
