#include <epsflow/cli/input.hpp>

#include <algorithm>

#include <epsflow/cli/options.hpp>
#include <epsflow/io/read/source.hpp>
#include <epsflow/sky/sky_columns.hpp>
#include <epsflow/sky/sky_field.hpp>

namespace epsflow::cli {
namespace {

double number(std::string_view option, std::string_view text, std::string_view what) {
  if (const auto value = io::number_in<double>(text)) return *value;
  throw usage_error("--{}: '{}' is no number; it is {}", option, text, what);
}

/// Parses a side such as 250, 0:250 or -.
BoxSide side(std::string_view text) {
  constexpr std::string_view kWhat = "a comma list of sides, as in 250,-10:10,-, one for each column or one for all";
  if (text == "-") return {};
  const std::size_t colon = text.find(':');
  const bool both = colon != std::string_view::npos;
  const BoxSide side{both ? number("box", text.substr(0, colon), kWhat) : 0,
                     number("box", both ? text.substr(colon + 1) : text, kWhat)};
  if (!side.closed()) throw usage_error("--box: '{}' has no length; a side that is open is written -", text);
  return side;
}

/// Uses the box of a snapshot unless --box is given.
void take_box(const io::FilePoints& points, Metric& metric, const Messages& messages) {
  if (points.box.empty() || on_sphere(metric.kind) || metric.kind == MetricKind::cosine) return;
  std::string sides;
  for (const double length : points.box) {
    metric.box.push_back(length > 0 ? BoxSide{0, length} : BoxSide{});
    sides += (sides.empty() ? "" : ",") + (length > 0 ? format_number(length) : "-");
  }
  messages.tell("the box is that of the snapshot's header: --box {}; --box - opens it", sides);
}

}  // namespace

OptionGroup metric_options() { return {"What distance is", specs_of<Metric>()}; }

Metric parse_metric(const Arguments& arguments) {
  Metric metric;
  take(arguments, metric);
  if (arguments.given("unit") && metric.kind != MetricKind::greatcircle) {
    throw UsageError("--unit is the unit of eps on a great circle: leave it out, or add --metric greatcircle");
  }
  if (metric.latitude_first && !on_sphere(metric.kind)) {
    throw UsageError("--latitude-first is for longitudes and latitudes: leave it out, or add --metric greatcircle");
  }
  for (const std::string& item : parse_list(arguments, "scale")) {
    metric.scale.push_back(number("scale", item, "a comma list of factors, one for each column"));
  }
  if (!metric.scale.empty()) check_metric(metric, metric.scale.size());
  if (arguments.given("p")) {
    metric.power = number("p", arguments.text("p"), "the power of minkowski, as in 3");
    if (metric.kind != MetricKind::minkowski) {
      throw UsageError("--p is the power of minkowski: leave it out, or add --metric minkowski");
    }
  }
  for (const std::string& item : parse_list(arguments, "box")) metric.box.push_back(side(item));
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

void Input::resolve(io::FilePoints& points) {
  if (on_sphere(metric.kind)) {
    const std::vector<std::size_t> order = sky_columns(points.column_names, metric);
    if (points.dims() != 2) {
      throw usage_error(
          "--metric {} takes two columns, longitude and latitude, and {} were read: choose them with --columns",
          word_of(metric.kind), points.dims());
    }
    require_unit_of_names(names_without_units(points), metric);
    if (!order.empty() && order.front() == 1) swap_columns(points);
    if (order.empty() && !metric.latitude_first) {
      const bool latitude_first = latitude_comes_first(metric);
      messages.tell("names of columns do not tell: the first is taken for {}, the second for {}",
                    latitude_first ? "latitude" : "longitude", latitude_first ? "longitude" : "latitude");
    }
  }
  if (metric.box.size() == 1) metric.box.resize(points.dims(), metric.box.front());
  if (metric.box.empty()) take_box(points, metric, messages);
  check_metric(metric, points.dims());
  resolve_units(points, metric, messages);
}

void Input::doubt_eps(const io::FilePoints& points) const {
  if (!smallest_eps || messages.quiet) return;
  const double eps = *smallest_eps;
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
      "{:.3g} degrees of longitude and {:.3g} of latitude, so that nearly all are neighbours. If it is meant in "
      "another unit, write {}",
      eps, taken, field->eps, field->width, field->height, ways.empty() ? "it in " + taken : ways));
}

Dataset Input::load(const io::FilePoints& points, const EngineOptions& engine) const {
  Dataset data = Engine(engine, messages.notices()).load(points, metric);
  doubt_eps(points);
  return points.weights.empty() ? data : data.weighted(points.weights);
}

}  // namespace epsflow::cli
