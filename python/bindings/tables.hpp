// Tables of neighbours and matrices of distances for Python.
#pragma once

#include <nanobind/nanobind.h>

namespace epsflow::python {

void define_tables(nanobind::module_& m);

}  // namespace epsflow::python
