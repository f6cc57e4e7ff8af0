// Catalogues of points and labels that are on a GPU.
#pragma once

#include <cstdint>
#include <span>

#include <epsflow/catalog/catalog.hpp>
#include <epsflow/core/cancel.hpp>
#include <epsflow/core/device_array.hpp>
#include <epsflow/core/metric.hpp>

namespace epsflow {

/// As CatalogInput, of one data set. Arrays in device memory are of the GPU of the points, and written by what the stream of the points has by
/// then, or complete.
struct DeviceCatalogInput {
  DevicePointsView points;
  const Metric& metric;
  std::span<const std::int32_t> labels;     ///< [device] [n]
  std::span<const std::uint8_t> core = {};  ///< [device] [n] 1 for core points; empty: not known
  std::span<const double> weights = {};  ///< [device] or [host] [n], none below 0; empty: every point weighs the same
  std::span<const NamedColumn> columns = {};  ///< to sum up: values [device] or [host]
};

/// What a backend offers where it makes catalogues in the memory of its device.
class DeviceCatalogs {
 public:
  DeviceCatalogs() = default;
  DeviceCatalogs(const DeviceCatalogs&) = delete;
  DeviceCatalogs& operator=(const DeviceCatalogs&) = delete;
  virtual ~DeviceCatalogs() = default;

  /// Engine::catalog().
  [[nodiscard]] virtual Catalog catalog(const DeviceCatalogInput& input, const CancelToken& cancel) = 0;
};

}  // namespace epsflow
