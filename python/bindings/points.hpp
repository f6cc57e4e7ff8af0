// Points of Python on the host, with their metric and what each of them has.
#pragma once

#include "arrays.hpp"
#include "options.hpp"

#include <epsflow/core/metric.hpp>

namespace epsflow::python {

/// A metric as its parameters name it, before the number of columns is known.
struct PyMetric {
  PyMetric(const std::string& name, const std::string& unit, std::optional<bool> latitude_comes_first,
           std::vector<double> scale, double power, const std::vector<std::pair<double, double>>& box);

  Metric metric;                       ///< one side of a box stands for all columns
  std::optional<bool> latitude_first;  ///< if that is said

  [[nodiscard]] Metric in(std::size_t dims) const {
    Metric whole = metric;
    if (whole.box.size() == 1) whole.box.resize(dims, whole.box.front());
    return whole;
  }
};

/// It keeps the arrays, which a task that has it reads.
struct PyPoints {
  std::optional<HostArray> array;
  PyMetric given;
  Maybe<std::int32_t> labels = {};
  Maybe<std::uint8_t> core = {};
  Weights weights = {};

  /// They must be there.
  [[nodiscard]] PointsView view() const { return view_of(*array); }
  [[nodiscard]] Metric metric() const { return given.in(array->shape(1)); }
};

}  // namespace epsflow::python
