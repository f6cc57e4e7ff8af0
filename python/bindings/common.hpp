// Common includes of the module, and the functions that define its parts.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace epsflow::python {

namespace nb = nanobind;
using namespace nb::literals;  // NOLINT: for the names of arguments

// Each function adds the classes and functions of one source file to the module epsflow._core.

void define_catalogs(nb::module_& m);
void define_comparisons(nb::module_& m);
void define_gpu_points(nb::module_& m);
void define_maps(nb::module_& m);
void define_points(nb::module_& m);
void define_ranks(nb::module_& m);
void define_reports(nb::module_& m);
void define_results_folders(nb::module_& m);
void define_sweeps(nb::module_& m);
void define_tables(nb::module_& m);
void define_tracks(nb::module_& m);
void define_trees(nb::module_& m);
void define_velocities(nb::module_& m);
void define_windows(nb::module_& m);

}  // namespace epsflow::python
