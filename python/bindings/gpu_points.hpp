// Python's points in the memory of a GPU.
#pragma once

#include "common.hpp"

#include <epsflow/core/device_array.hpp>

namespace epsflow::python {

/// Points in the memory of a GPU: [rows × dims], row-major, from `data` on. They are the user's and are not copied.
struct PyGpuPoints {
  const void* data;
  std::size_t rows;
  std::size_t dims;
  Precision precision;
  std::optional<int> device;       ///< the GPU, as CUDA counts; if empty, the engine's
  std::uintptr_t stream;           ///< the cudaStream_t that computes the points; 0: the default stream
  nb::object owner;                ///< the user's array, which is kept alive
  nb::ndarray<nb::ro> array = {};  ///< the DLPack capsule, which is kept alive, if there is one

  /// engine_device: the GPU of the engine, as CUDA counts.
  [[nodiscard]] DevicePointsView view(int engine_device) const {
    const DeviceStream device_stream{.device = device.value_or(engine_device),
                                     .stream = reinterpret_cast<CUstream_st*>(stream)};  // NOLINT: an integer in Python
    if (precision == Precision::float32) return {static_cast<const float*>(data), rows, dims, device_stream};
    return {static_cast<const double*>(data), rows, dims, device_stream};
  }
};

/// Values that belong to points, on the host or on a GPU, and the object that owns the memory.
struct PyValues {
  nb::ndarray<nb::ro> array;
  nb::object owner;

  /// Returns the type for the library: "int32", "float64", or "mask" for any type of one byte; "" for other types, and
  /// for arrays that are strided or do not have one dimension.
  [[nodiscard]] std::string kind() const {
    if (array.ndim() != 1 || (array.shape(0) > 1 && array.stride(0) != 1)) return "";
    if (array.dtype() == nb::dtype<std::int32_t>()) return "int32";
    if (array.dtype() == nb::dtype<double>()) return "float64";
    return array.itemsize() == 1 ? "mask" : "";
  }
  /// Returns the values, which may be in the memory of a GPU. T must be their type.
  template <class T>
  [[nodiscard]] std::span<const T> span() const {
    return {static_cast<const T*>(array.data()), array.shape(0)};
  }
};

}  // namespace epsflow::python
