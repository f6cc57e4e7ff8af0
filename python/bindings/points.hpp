// Points of Python on the host, with their metric and what each of them has.
#pragma once

#include "arrays.hpp"
#include "options.hpp"

#include <epsflow/core/metric.hpp>

namespace epsflow::python {

/// A metric as _metrics.py has it: name, unit of eps, whether latitude comes first, if that is said, scale, power, ends of
/// the sides of a box: one for each column or for all.
using MetricWords = std::tuple<std::string, std::string, std::optional<bool>, std::vector<double>, double,
                               std::vector<std::pair<double, double>>>;

[[nodiscard]] inline Metric metric_of(const MetricWords& words, std::size_t dims) {
  const auto& [name, unit, latitude_first, scale, power, box] = words;
  Metric metric{.kind = choice_named<MetricKind>("metric", name),
                .scale = scale,
                .unit = choice_named<ArcUnit>("unit", unit),
                .latitude_first = latitude_first.value_or(false),
                .power = power};
  for (const auto& [lo, hi] : box) metric.box.push_back({lo, hi});
  if (metric.box.size() == 1) metric.box.resize(dims, metric.box.front());
  return metric;
}

/// It keeps the arrays, which a task that has it reads.
struct PyPoints {
  std::optional<HostArray> array;
  MetricWords words;
  Maybe<std::int32_t> labels = {};
  Maybe<std::uint8_t> core = {};
  Weights weights = {};

  /// They must be there.
  [[nodiscard]] PointsView view() const { return view_of(*array); }
  [[nodiscard]] Metric metric() const { return metric_of(words, array->shape(1)); }
};

}  // namespace epsflow::python
