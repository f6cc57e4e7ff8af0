// Clusters from slice to slice, as _tracks.py needs it.
#pragma once

#include <nanobind/nanobind.h>

namespace epsflow::python {

void define_tracks(nanobind::module_& m);

}  // namespace epsflow::python
