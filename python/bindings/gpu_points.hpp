// Points of Python in the memory of a GPU.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <optional>

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
  nanobind::object owner;
  nanobind::ndarray<nanobind::ro> array = {};

  [[nodiscard]] DevicePointsView view(int engine_device) const {
    const DevicePlace place{.device = device.value_or(engine_device),
                            .stream = reinterpret_cast<CUstream_st*>(stream)};  // NOLINT: how Python hands one over
    if (precision == Precision::float32) return {static_cast<const float*>(data), rows, dims, place};
    return {static_cast<const double*>(data), rows, dims, place};
  }
};

void define_gpu_points(nanobind::module_& m);

}  // namespace epsflow::python
