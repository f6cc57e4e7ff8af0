// What sums of a catalogue read of a metric, in arrays that can be brought to a device.
#pragma once

#include <cstddef>
#include <vector>

#include <epsflow/catalog/cluster_sums.hpp>
#include <epsflow/catalog/sky_sums.hpp>
#include <epsflow/core/metric.hpp>

namespace epsflow {

struct MetricArrays {
  /// The metric must be one that check_metric() accepts.
  MetricArrays(const Metric& given, std::size_t dims);

  /// With what the metric says, and no more. at: the values below, where whoever reads them can.
  template <class T>
  [[nodiscard]] sums::Measured<T> measured(const double* at) const {
    sums::Measured<T> of;
    of.dims = dims;
    if (closed) {
      of.low = at;
      of.high = at + dims;
    }
    if (scaled) of.scale = at + (closed ? 2 * dims : 0);
    of.norm = norm;
    of.power = power;
    of.cosine = cosine;
    return of;
  }

  std::size_t dims;
  std::vector<double>
      values;  ///< [d] lower and [d] upper ends of a box, where a side is closed; [d] factors, where there are some
  bool closed = false;
  bool scaled = false;
  bool cosine = false;
  Norm norm = Norm::euclidean;
  double power = 2;
  sums::Sky sky;
};

}  // namespace epsflow
