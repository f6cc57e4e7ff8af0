// The parameters of a metric that the sums of a catalogue read, in arrays that can be copied to a device.
#pragma once

#include <cstddef>
#include <vector>

#include <epsflow/catalog/cluster_sums.hpp>
#include <epsflow/catalog/sky_sums.hpp>
#include <epsflow/core/metric.hpp>

namespace epsflow {

struct MetricArrays {
  /// given: accepted by check_metric().
  MetricArrays(const Metric& given, std::size_t dims);

  /// Returns Measured with only the parameters of the metric set. at: the address of `values`, or of a copy of it in
  /// the device memory from which it will be read.
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
  /// [d] lower and [d] upper ends of the box, if there is one; then [d] factors, if the metric has a scale
  std::vector<double> values;
  bool closed = false;  ///< the metric has a box with a closed side
  bool scaled = false;  ///< the metric has a factor that is not 1
  bool cosine = false;
  Norm norm = Norm::euclidean;
  double power = 2;
  sums::Sky sky;  ///< without `ways`; used on a sphere only
};

}  // namespace epsflow
