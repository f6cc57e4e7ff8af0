#include <epsflow/cli/metric.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <epsflow/cli/options.hpp>
#include <epsflow/cli/output.hpp>
#include <epsflow/cli/reading.hpp>
#include <epsflow/cli/running.hpp>
#include <epsflow/cli/units.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/core/sky_columns.hpp>
#include <epsflow/core/sky_field.hpp>
#include <epsflow/core/sweep.hpp>

namespace epsflow::cli {
namespace {

double number(std::string_view option, std::string_view text, std::string_view what) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size()) return value;
  throw UsageError(fmt::format("--{}: '{}' is no number; it is {}", option, text, what));
}

/// A side as in 250, 0:250 or -.
BoxSide side(std::string_view text) {
  constexpr std::string_view kWhat = "a comma list of sides, as in 250,-10:10,-, one for each column or one for all";
  if (text == "-") return {};
  const std::size_t colon = text.find(':');
  const bool both = colon != std::string_view::npos;
  const BoxSide side{both ? number("box", text.substr(0, colon), kWhat) : 0,
                     number("box", both ? text.substr(colon + 1) : text, kWhat)};
  if (!side.closed())
    throw UsageError(fmt::format("--box: '{}' has no length; a side that is open is written -", text));
  return side;
}

/// The box of a snapshot, where --box does not say another.
void take_box(const Arguments& arguments, const io::FilePoints& points, Metric& metric) {
  if (points.box.empty() || on_sphere(metric.kind) || metric.kind == MetricKind::cosine) return;
  std::string sides;
  for (const double length : points.box) {
    metric.box.push_back(length > 0 ? BoxSide{0, length} : BoxSide{});
    sides += (sides.empty() ? "" : ",") + (length > 0 ? format_number(length) : "-");
  }
  if (!arguments.flag("quiet")) {
    say(fmt::format("the box is that of the snapshot's header: --box {}; --box - opens it", sides));
  }
}

double smallest_eps(const Arguments& arguments) {
  if (!arguments.given("variants")) return std::ranges::min(parse_eps_list(arguments.text("eps")));
  return std::ranges::min(parse_variants(arguments.text("variants")), {}, &Variant::eps).eps;
}

}  // namespace

OptionGroup metric_options() { return {"What distance is", specs_of<Metric>()}; }

Metric requested_metric(const Arguments& arguments) {
  Metric metric;
  take(arguments, metric);
  if (arguments.given("unit") && metric.kind != MetricKind::greatcircle) {
    throw UsageError("--unit is the unit of eps on a great circle: leave it out, or add --metric greatcircle");
  }
  if (metric.latitude_first && !on_sphere(metric.kind)) {
    throw UsageError("--latitude-first is for longitudes and latitudes: leave it out, or add --metric greatcircle");
  }
  if (arguments.given("scale")) {
    for (const std::string& item : split_list("scale", arguments.text("scale"))) {
      metric.scale.push_back(number("scale", item, "a comma list of factors, one for each column"));
    }
    check_metric(metric, metric.scale.size());
  }
  if (arguments.given("p")) {
    metric.power = number("p", arguments.text("p"), "the power of minkowski, as in 3");
    if (metric.kind != MetricKind::minkowski) {
      throw UsageError("--p is the power of minkowski: leave it out, or add --metric minkowski");
    }
  }
  if (arguments.given("box")) {
    for (const std::string& item : split_list("box", arguments.text("box"))) metric.box.push_back(side(item));
  }
  return metric;
}

void swap_columns(io::FilePoints& points) {
  const auto swap = [](auto values) {
    for (std::size_t i = 0; i + 1 < values.size(); i += 2) std::swap(values[i], values[i + 1]);
  };
  if (points.precision() == Precision::float32) {
    swap(points.values<float>());
  } else {
    swap(points.values<double>());
  }
  std::ranges::reverse(points.column_names);
  std::ranges::reverse(points.column_numbers);
  for (io::InputRows& input : points.inputs) std::ranges::reverse(input.units);
}

void settle_columns(const Arguments& arguments, io::FilePoints& points, Metric& metric) {
  if (on_sphere(metric.kind)) {
    const std::vector<std::size_t> order = sky_columns(points.column_names, metric);
    if (points.dims() != 2) {
      throw UsageError(fmt::format(
          "--metric {} takes two columns, longitude and latitude, and {} were read: choose them with --columns",
          arguments.text("metric"), points.dims()));
    }
    require_unit_of_names(names_without_units(points), metric);
    if (!order.empty() && order.front() == 1) swap_columns(points);
    if (order.empty() && !metric.latitude_first && !arguments.flag("quiet")) {
      const bool latitude_first = latitude_comes_first(metric);
      say(fmt::format("names of columns do not tell: the first is taken for {}, the second for {}",
                      latitude_first ? "latitude" : "longitude", latitude_first ? "longitude" : "latitude"));
    }
  }
  if (metric.box.size() == 1) metric.box.resize(points.dims(), metric.box.front());
  if (metric.box.empty()) take_box(arguments, points, metric);
  check_metric(metric, points.dims());
  settle_units(arguments, points, metric);
}

void doubt_eps(const Arguments& arguments, const io::FilePoints& points, const Metric& metric) {
  const bool has_eps = arguments.given("eps") || arguments.given("variants");  // not where they are to be found out
  if (!has_eps || arguments.flag("quiet")) return;
  const double eps = smallest_eps(arguments);
  const auto field = field_within(metric, points, eps);
  if (!field) return;
  const bool radians = in_radians(metric.kind);
  std::string ways;
  for (const ArcUnit unit : field->meant) {
    const std::string word(word_of(unit));
    ways += ways.empty() ? "" : " or ";
    ways += radians ? fmt::format("--eps {:.6g} for {}", eps * radians_of(unit), word) : "--unit " + word;
  }
  const std::string taken(word_of(radians ? ArcUnit::radian : metric.unit));
  say(fmt::format(
      "--eps {} is taken in {}, and is no smaller than the whole field: it is {:.3g} degrees, and the points span "
      "{:.3g} "
      "degrees of longitude and {:.3g} of latitude, so that nearly all are neighbours. If it is meant in another unit, "
      "write {}",
      eps, taken, field->eps, field->width, field->height, ways.empty() ? "it in " + taken : ways));
}

Dataset load(const Arguments& arguments, const io::FilePoints& points, const Metric& metric,
             const EngineOptions& options) {
  const Engine engine(options, notices(arguments));
  Dataset data = engine.load(points, metric);
  doubt_eps(arguments, points, metric);
  return points.weights.empty() ? data : data.weighted(points.weights);
}

}  // namespace epsflow::cli
