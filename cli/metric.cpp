#include <epsflow/cli/metric.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <epsflow/cli/choices.hpp>
#include <epsflow/cli/output.hpp>
#include <epsflow/cli/reading.hpp>
#include <epsflow/cli/running.hpp>
#include <epsflow/core/error.hpp>

namespace epsflow::cli {
namespace {

constexpr std::array<std::string_view, 8> kLongitudes{"lon", "long", "longitude", "lng",
                                                      "ra",  "glon", "l",         "rightascension"};
constexpr std::array<std::string_view, 7> kLatitudes{"lat", "latitude", "dec", "decl", "declination", "glat", "b"};

/// Whether a name, or a part of it as of pickup_longitude, is one of these.
bool names_one(std::string_view name, const auto& words) {
  std::string part;
  const auto known = [&] { return std::ranges::find(words, part) != words.end(); };
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      part += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      continue;
    }
    if (known()) return true;
    part.clear();
  }
  return known();
}

/// The one column that is named so.
std::optional<std::size_t> only_column(const std::vector<std::string>& names, const auto& words) {
  std::optional<std::size_t> found;
  for (std::size_t k = 0; k < names.size(); ++k) {
    if (!names_one(names[k], words)) continue;
    if (found) return std::nullopt;
    found = k;
  }
  return found;
}

/// Two columns of points, in this order.
Points two_columns(Points& points, std::size_t first, std::size_t second) {
  Points two(points.size(), 2, points.precision());
  const auto copy = [&](auto from, auto to) {
    for (std::size_t i = 0; i < points.size(); ++i) {
      to[2 * i] = from[i * points.dims() + first];
      to[2 * i + 1] = from[i * points.dims() + second];
    }
  };
  if (points.precision() == Precision::float32) {
    copy(points.values<float>(), two.values<float>());
  } else {
    copy(points.values<double>(), two.values<double>());
  }
  for (const std::size_t k : {first, second}) {
    if (!points.column_names.empty()) two.column_names.push_back(points.column_names[k]);
    if (!points.column_numbers.empty()) two.column_numbers.push_back(points.column_numbers[k]);
  }
  two.inputs = std::move(points.inputs);
  return two;
}

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

}  // namespace

OptionGroup metric_options() {
  return {
      "What distance is",
      {{.name = "metric",
        .kind = ValueKind::word,
        .words = words_of(kMetrics),
        .standard = "euclidean",
        .help =
            "greatcircle: longitude and latitude in degrees, by columns named so (lon, ra, l; lat, dec, b) or in this "
            "order; haversine: latitude and longitude in radians, eps too; cosine: 1 - the cosine of the angle; "
            "minkowski: by --p"},
       {.name = "unit",
        .kind = ValueKind::word,
        .words = words_of(kArcUnits),
        .standard = "deg",
        .help = "the unit of eps on a great circle; km: on the earth"},
       {.name = "p", .value = "P", .standard = "2", .help = "the power of minkowski, at least 1; inf: chebyshev"},
       {.name = "box",
        .value = "LIST",
        .help = "a periodic box: the ends of each side, as in 0:250,0:250,- (-: open); one for all columns, and 250 "
                "for 0:250"},
       {.name = "scale",
        .value = "LIST",
        .help = "a factor for each column, as in 1,1,0.01 for space and time together (default: 1)"}}};
}

Metric requested_metric(const Arguments& arguments) {
  Metric metric;
  metric.kind = chosen(arguments.text("metric"), kMetrics);
  metric.unit = chosen(arguments.text("unit"), kArcUnits);
  if (arguments.given("unit") && metric.kind != MetricKind::greatcircle) {
    throw UsageError("--unit is the unit of eps on a great circle: leave it out, or add --metric greatcircle");
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

void settle_columns(const Arguments& arguments, Points& points, Metric& metric) {
  metric.latitude_first = false;
  if (metric.kind == MetricKind::greatcircle || metric.kind == MetricKind::haversine) {
    const auto longitude = only_column(points.column_names, kLongitudes);
    const auto latitude = only_column(points.column_names, kLatitudes);
    const bool known = longitude && latitude && *longitude != *latitude;
    if (points.dims() > 2 && known && !arguments.given("columns")) {
      points = metric.kind == MetricKind::haversine ? two_columns(points, *latitude, *longitude)
                                                    : two_columns(points, *longitude, *latitude);
    } else if (points.dims() == 2 && known) {
      metric.latitude_first = *latitude < *longitude;
      if (metric.kind == MetricKind::haversine && !metric.latitude_first) {
        throw UsageError(fmt::format("haversine takes latitude first: --columns {},{}", points.column_names[*latitude],
                                     points.column_names[*longitude]));
      }
    } else if (points.dims() == 2 && metric.kind == MetricKind::greatcircle && !arguments.flag("quiet")) {
      say("names of columns do not tell: the first is taken for longitude, the second for latitude");
    }
    if (metric.kind == MetricKind::haversine) metric.latitude_first = false;
    if (points.dims() != 2) {
      throw UsageError(fmt::format(
          "--metric {} takes two columns, longitude and latitude, and {} were read: choose them with --columns",
          arguments.text("metric"), points.dims()));
    }
  }
  if (metric.box.size() == 1) metric.box.resize(points.dims(), metric.box.front());
  check_metric(metric, points.dims());
}

Dataset load(const Arguments& arguments, const Points& points, const Metric& metric, const Options& options,
             Trace* trace) {
  const TraceScope scope(trace, Stage::load_points, 0, {"points", points.size()});
  const Engine engine(options, notices(arguments));
  return engine.load(points, metric).with(options);
}

}  // namespace epsflow::cli
