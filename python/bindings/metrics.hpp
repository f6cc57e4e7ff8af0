// A metric as _metrics.py has it.
#pragma once

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "options.hpp"

#include <epsflow/core/metric.hpp>

namespace epsflow::python {

/// name, unit of eps, whether latitude comes first, where that is said, scale, power, ends of the sides of a box: one for each column
/// or for all.
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

}  // namespace epsflow::python
