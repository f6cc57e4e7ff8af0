// Catalogues of points in the memory of a GPU.
#pragma once

#include <cstdint>
#include <span>

#include <epsflow/catalog/catalog.hpp>
#include <epsflow/core/cancel.hpp>
#include <epsflow/core/device_array.hpp>
#include <epsflow/core/metric.hpp>

namespace epsflow {

/// The CatalogInput of one data set, without slices, whose points are in device memory. Each other array is in memory
/// of the same GPU, or on the host, from which it is copied. Data in device memory must be complete, or be written by
/// work that was submitted before to the stream of the points or to the default stream.
struct DeviceCatalogInput {
  DevicePointsView points;  ///< [n × d] finite
  const Metric& metric;
  std::span<const std::int32_t> labels;       ///< [n]
  std::span<const std::uint8_t> core = {};    ///< [n] 1 for core points; empty if unknown
  std::span<const double> weights = {};       ///< [n], none below 0; empty: all points have equal weight
  std::span<const NamedColumn> columns = {};  ///< the columns to summarise
};

/// The interface of a backend that makes catalogues in the memory of its device.
class DeviceCatalogs {
 public:
  DeviceCatalogs() = default;
  DeviceCatalogs(const DeviceCatalogs&) = delete;
  DeviceCatalogs& operator=(const DeviceCatalogs&) = delete;
  virtual ~DeviceCatalogs() = default;

  /// Implements Engine::catalog(), which describes results, memory and errors.
  [[nodiscard]] virtual Catalog catalog(const DeviceCatalogInput& input, const CancelToken& cancel) = 0;
};

}  // namespace epsflow
