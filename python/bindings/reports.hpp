// Pages of results, as _report.py needs them.
#pragma once

#include <nanobind/nanobind.h>

namespace epsflow::python {

void define_reports(nanobind::module_& m);

}  // namespace epsflow::python
