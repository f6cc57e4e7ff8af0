// Catalogues of clusters, and rows grouped into slices.
#pragma once

#include <nanobind/nanobind.h>

namespace epsflow::python {

void define_catalogs(nanobind::module_& m);

}  // namespace epsflow::python
