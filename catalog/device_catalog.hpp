// Catalogues of points that are on a GPU.
#pragma once

#include <cstdint>
#include <span>

#include <epsflow/catalog/catalog.hpp>
#include <epsflow/core/cancel.hpp>
#include <epsflow/core/device_array.hpp>
#include <epsflow/core/metric.hpp>

namespace epsflow {

/// As CatalogInput, of one data set. Points are in device memory. Other arrays are in that of the same GPU or on the host, from where they are
/// copied. What is in device memory must be complete, or written by work that the stream of the points or the default stream has by then.
struct DeviceCatalogInput {
  DevicePointsView points;
  const Metric& metric;
  std::span<const std::int32_t> labels;       ///< [n]
  std::span<const std::uint8_t> core = {};    ///< [n] 1 for core points; empty: not known
  std::span<const double> weights = {};       ///< [n], none below 0; empty: every point weighs the same
  std::span<const NamedColumn> columns = {};  ///< to sum up
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
