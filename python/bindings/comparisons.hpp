// Comparing and judging labellings, as _compare.py and _validity.py need it.
#pragma once

#include <nanobind/nanobind.h>

namespace epsflow::python {

void define_comparisons(nanobind::module_& m);

}  // namespace epsflow::python
