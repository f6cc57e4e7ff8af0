// Metrics and points, as Python constructs them.
#include "points.hpp"

#include <epsflow/catalog/friends.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/sky/sky_columns.hpp>
#include <epsflow/sky/sky_field.hpp>

namespace epsflow::python {

PyMetric::PyMetric(const std::string& name, const std::string& unit, std::optional<bool> latitude_comes_first,
                   std::vector<double> scale, double power, const std::vector<std::pair<double, double>>& box)
    : metric{.kind = choice_named<MetricKind>("metric", name),
             .scale = std::move(scale),
             .unit = choice_named<ArcUnit>("unit", unit),
             .latitude_first = latitude_comes_first.value_or(false),
             .power = power},
      latitude_first(latitude_comes_first) {
  for (const auto& [lo, hi] : box) metric.box.push_back({lo, hi});
}

namespace {

/// The name, unit of eps, latitude_first if given, scale, power, and the ends of the sides of a box.
using MetricTuple = std::tuple<std::string, std::string, std::optional<bool>, std::vector<double>, double,
                               std::vector<std::pair<double, double>>>;

std::vector<std::pair<double, double>> box_of(const PyMetric& given) {
  std::vector<std::pair<double, double>> sides;
  for (const BoxSide& side : given.metric.box) sides.emplace_back(side.lo, side.hi);
  return sides;
}

MetricTuple words_of(const PyMetric& given) {
  const Metric& m = given.metric;
  return {std::string(word_of(m.kind)),
          std::string(word_of(m.unit)),
          given.latitude_first,
          m.scale,
          m.power,
          box_of(given)};
}

/// Returns the unit of longitudes and latitudes, or of eps, if the metric has one.
std::optional<std::string_view> angle_unit(const PyMetric& given) {
  if (given.metric.kind == MetricKind::greatcircle) return "deg";
  if (in_radians(given.metric.kind)) return "rad";
  return std::nullopt;
}

std::optional<std::string_view> eps_unit(const PyMetric& given) {
  return given.metric.kind == MetricKind::greatcircle ? word_of(given.metric.unit) : angle_unit(given);
}

/// Returns width, height and eps in degrees, and the units in which eps was possibly meant.
std::optional<std::tuple<double, double, double, std::vector<std::string_view>>> field_of(const PyMetric& metric,
                                                                                          const HostArray& points,
                                                                                          double eps) {
  const auto field = field_within(metric.in(points.shape(1)), view_of(points), eps);
  if (!field) return std::nullopt;
  std::vector<std::string_view> meant;
  for (const ArcUnit unit : field->meant) meant.push_back(word_of(unit));
  return std::tuple(field->width, field->height, field->eps, meant);
}

}  // namespace

void define_points(nb::module_& m) {
  nb::class_<PyMetric>(m, "Metric", "What distance is. Equal ends of a side of the box mean that it is open.")
      .def(nb::init<const std::string&, const std::string&, std::optional<bool>, std::vector<double>, double,
                    const std::vector<std::pair<double, double>>&>(),
           "name"_a, "unit"_a = "deg", nb::arg("latitude_first").none() = nb::none(), "scale"_a = std::vector<double>(),
           "power"_a = 2.0, "box"_a = std::vector<std::pair<double, double>>())
      .def("__getstate__", &words_of)
      .def("__setstate__",
           [](PyMetric& self, const MetricTuple& words) {
             std::apply([&](const auto&... word) { new (&self) PyMetric(word...); }, words);
           })
      .def_prop_ro("name", [](const PyMetric& given) { return word_of(given.metric.kind); })
      .def_prop_ro("unit", [](const PyMetric& given) { return word_of(given.metric.unit); })
      .def_ro("latitude_first", &PyMetric::latitude_first, "None if it is not said.")
      .def_prop_ro("scale", [](const PyMetric& given) { return given.metric.scale; })
      .def_prop_ro("power", [](const PyMetric& given) { return given.metric.power; })
      .def_prop_ro("box", &box_of)
      .def_prop_ro("angle_unit", &angle_unit,
                   "The unit of the longitudes and latitudes that it takes; None if it takes other coordinates.")
      .def_prop_ro("eps_unit", &eps_unit, "The unit of eps, if the metric has one of its own.")
      .def_prop_ro("takes_latitude_first", [](const PyMetric& given) { return latitude_comes_first(given.metric); })
      .def(
          "text", [](const PyMetric& given, std::size_t dims) { return describe(canonical(given.in(dims))); }, "dims"_a)
      .def(
          "sky_columns",
          [](const PyMetric& given, const std::vector<std::string>& names) {
            return sky_columns(names, given.in(names.size()));
          },
          "names"_a)
      .def(
          "require_unit_of_names",
          [](const PyMetric& given, const std::vector<std::string>& names) {
            require_unit_of_names(names, given.in(2));
          },
          "names"_a)
      .def("field_within", &field_of, nb::arg("points").noconvert(), "eps"_a)
      .def(
          "mean_separation",
          [](const PyMetric& given, std::size_t dims, std::uint64_t n) {
            return mean_separation(given.in(dims), dims, n);
          },
          "dims"_a, "n"_a);
  nb::class_<PyPoints>(m, "Points", "Points on the host, with what each of them has.")
      .def(nb::init<std::optional<HostArray>, PyMetric, Maybe<std::int32_t>, Maybe<std::uint8_t>, Weights>(),
           nb::arg("array").noconvert().none(), "metric"_a, nb::arg("labels").noconvert().none() = nb::none(),
           nb::arg("core").noconvert().none() = nb::none(), nb::arg("weights").noconvert().none() = nb::none());
}

}  // namespace epsflow::python
