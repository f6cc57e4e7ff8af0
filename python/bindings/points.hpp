// Python's points on the host, with their metric and the values of each point.
#pragma once

#include "arrays.hpp"
#include "options.hpp"

#include <epsflow/core/metric.hpp>

namespace epsflow::python {

/// A metric with its parameters, before the number of columns is known.
struct PyMetric {
  PyMetric(const std::string& name, const std::string& unit, std::optional<bool> latitude_comes_first,
           std::vector<double> scale, double power, const std::vector<std::pair<double, double>>& box);

  Metric metric;                       ///< a box of one side applies to all columns
  std::optional<bool> latitude_first;  ///< if given

  [[nodiscard]] Metric in(std::size_t dims) const {
    Metric whole = metric;
    if (whole.box.size() == 1) whole.box.resize(dims, whole.box.front());
    return whole;
  }
};

/// Points with their arrays. A task that has a copy keeps the arrays alive.
struct PyPoints {
  std::optional<HostArray> array;
  PyMetric given;
  Maybe<std::int32_t> labels = {};
  Maybe<std::uint8_t> core = {};
  Weights weights = {};

  /// Requires an array.
  [[nodiscard]] PointsView view() const { return view_of(*array); }
  [[nodiscard]] Metric metric() const { return given.in(array->shape(1)); }
};

}  // namespace epsflow::python
