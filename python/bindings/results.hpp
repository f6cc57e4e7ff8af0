// Results folders, as _results.py needs them.
#pragma once

#include <nanobind/nanobind.h>

namespace epsflow::python {

void define_results_folders(nanobind::module_& m);

}  // namespace epsflow::python
