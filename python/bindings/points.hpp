// Python's points on the host, with their metric and the values of each point.
#pragma once

#include "arrays.hpp"
#include "options.hpp"

#include <epsflow/core/metric.hpp>

namespace epsflow::python {

/// A metric with its parameters, before the number of columns is known.
struct PyMetric {
  /// name, unit: words of MetricKind and ArcUnit. box: the two ends of each side, equal for an open side. Throws
  /// UsageError for other words. The other values are checked when points are given.
  PyMetric(const std::string& name, const std::string& unit, std::optional<bool> latitude_comes_first,
           std::vector<double> scale, double power, const std::vector<std::pair<double, double>>& box);

  Metric metric;                       ///< its box may have one side, which applies to all columns
  std::optional<bool> latitude_first;  ///< if given; `metric` has false without it

  /// Returns the metric for points of `dims` columns.
  [[nodiscard]] Metric in(std::size_t dims) const {
    Metric whole = metric;
    if (whole.box.size() == 1) whole.box.resize(dims, whole.box.front());
    return whole;
  }
};

/// Points and the arrays that belong to them. Tasks refer to the arrays.
struct PyPoints {
  std::optional<HostArray> array;  ///< the coordinates; only tracks by ids may lack them
  PyMetric given;
  Maybe<std::int32_t> labels = {};  ///< the cluster of each point, -1 for noise
  Maybe<std::uint8_t> core = {};    ///< 1 for core points, else 0
  Weights weights = {};

  // Both functions require the array of coordinates.
  [[nodiscard]] PointsView view() const { return view_of(*array); }
  [[nodiscard]] Metric metric() const { return given.in(array->shape(1)); }
};

}  // namespace epsflow::python
