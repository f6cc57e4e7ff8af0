#include "gpu_points.hpp"
#include "common.hpp"

#include <epsflow/core/error.hpp>

namespace epsflow::python {
namespace {

/// Throws UsageError unless the array is [n, d] and C-contiguous. strides: in bytes, or empty for contiguous arrays.
void check_gpu_array(const std::string& name, const std::vector<std::int64_t>& shape,
                     const std::vector<std::int64_t>& strides, std::int64_t item) {
  if (shape.size() != 2) {
    throw UsageError("Expected 2D array: " + name + " is on a GPU and has " + std::to_string(shape.size()) +
                     " dimensions; reshape it to [n_samples, n_features]");
  }
  if (shape[1] == 0) throw UsageError("0 feature(s) while a minimum of 1 is required: " + name + " has no columns");
  const bool empty = shape[0] == 0;
  const bool rows = strides.empty() || shape[0] < 2 || strides[0] == shape[1] * item;
  const bool columns = strides.empty() || shape[1] < 2 || strides[1] == item;
  if (empty || (rows && columns)) return;
  throw UsageError(name +
                   " is on a GPU and not C-contiguous; make it so there, as ascontiguousarray() or contiguous() do");
}

[[noreturn]] void throw_gpu_dtype(const std::string& name, const std::string& dtype) {
  throw UsageError(name + " is on a GPU and has dtype " + dtype + ": convert it there to float32 or float64");
}

/// Returns points of a DLPack capsule.
PyGpuPoints gpu_points(nb::ndarray<nb::ro> array, nb::object owner, const std::string& name) {
  std::vector<std::int64_t> shape, strides;
  const auto item = static_cast<std::int64_t>(array.itemsize());
  for (std::size_t k = 0; k < array.ndim(); ++k) {
    shape.push_back(static_cast<std::int64_t>(array.shape(k)));
    strides.push_back(array.stride(k) * item);
  }
  check_gpu_array(name, shape, strides, item);
  const bool single = array.dtype() == nb::dtype<float>();
  if (!single && array.dtype() != nb::dtype<double>()) {
    throw_gpu_dtype(name, "of " + std::to_string(item) + " bytes that is no float32 or float64");
  }
  return {.data = array.data(),
          .rows = array.shape(0),
          .dims = array.shape(1),
          .precision = single ? Precision::float32 : Precision::float64,
          .device = array.device_id(),
          .stream = 0,
          .owner = std::move(owner),
          .array = array};
}

/// Returns points of a __cuda_array_interface__.
PyGpuPoints gpu_points_at(const nb::dict& described, nb::object owner, const std::string& name) {
  const auto get = [&]<class T>(const char* key, T standard) {
    const nb::object value = described.contains(key) ? nb::object(described[key]) : nb::none();
    return value.is_none() ? standard : nb::cast<T>(value);
  };
  const auto dtype = get("typestr", std::string());
  const auto shape = get("shape", std::vector<std::int64_t>());
  if (dtype != "<f4" && dtype != "<f8") throw_gpu_dtype(name, dtype);
  check_gpu_array(name, shape, get("strides", std::vector<std::int64_t>()), dtype == "<f4" ? 4 : 8);
  const auto data = nb::cast<std::uintptr_t>(described["data"][0]);
  return {.data = reinterpret_cast<const void*>(data),  // NOLINT: an integer in Python
          .rows = static_cast<std::size_t>(shape[0]),
          .dims = static_cast<std::size_t>(shape[1]),
          .precision = dtype == "<f4" ? Precision::float32 : Precision::float64,
          .device = std::nullopt,
          .stream = get("stream", std::uintptr_t{0}),
          .owner = std::move(owner)};
}

}  // namespace

void define_gpu_points(nb::module_& m) {
  nb::class_<PyGpuPoints>(m, "GpuPoints", "Points in the memory of a GPU.")
      .def_prop_ro("shape", [](const PyGpuPoints& p) { return std::pair(p.rows, p.dims); })
      .def("__len__", [](const PyGpuPoints& p) { return p.rows; });
  nb::class_<PyValues>(m, "Values", "An array that goes with points, on the host or on a GPU.")
      .def_prop_ro("kind", &PyValues::kind)
      .def("__len__", [](const PyValues& values) { return values.array.shape(0); });
  m.def(
      "values",
      [](nb::ndarray<nb::ro> array, nb::object owner) {
        return PyValues{std::move(array), std::move(owner)};
      },
      "array"_a, "owner"_a);
  m.def("gpu_points", &gpu_points, "capsule"_a, "owner"_a, "name"_a);
  m.def("gpu_points_at", &gpu_points_at, "described"_a, "owner"_a, "name"_a);
}

}  // namespace epsflow::python
