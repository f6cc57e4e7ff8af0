// Points of Python in the memory of a GPU.
#pragma once

#include "common.hpp"

#include <epsflow/core/device_array.hpp>

namespace epsflow::python {

/// Points in the memory of a GPU. nanobind keeps what DLPack handed over, `owner` what Python did.
struct PyGpuPoints {
  const void* data;
  std::size_t rows;
  std::size_t dims;
  Precision precision;
  std::optional<int> device;  ///< unless it is not said: that of the engine
  std::uintptr_t stream;
  nb::object owner;
  nb::ndarray<nb::ro> array = {};

  [[nodiscard]] DevicePointsView view(int engine_device) const {
    const DevicePlace place{.device = device.value_or(engine_device),
                            .stream = reinterpret_cast<CUstream_st*>(stream)};  // NOLINT: how Python hands one over
    if (precision == Precision::float32) return {static_cast<const float*>(data), rows, dims, place};
    return {static_cast<const double*>(data), rows, dims, place};
  }
};

/// Values that go with such points, on the host or on a GPU, and who has their memory.
struct PyValues {
  nb::ndarray<nb::ro> array;
  nb::object owner;

  /// What the library takes them as: "int32", "float64", or "mask" for bytes; "" for others, and unless they lie side by side.
  [[nodiscard]] std::string kind() const {
    if (array.ndim() != 1 || (array.shape(0) > 1 && array.stride(0) != 1)) return "";
    if (array.dtype() == nb::dtype<std::int32_t>()) return "int32";
    if (array.dtype() == nb::dtype<double>()) return "float64";
    return array.itemsize() == 1 ? "mask" : "";
  }
  /// They must be of that kind.
  template <class T>
  [[nodiscard]] std::span<const T> span() const {
    return {static_cast<const T*>(array.data()), array.shape(0)};
  }
};

}  // namespace epsflow::python
