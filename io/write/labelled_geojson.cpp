#include <epsflow/io/write/labelled_geojson.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <numbers>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <epsflow/core/angle_units.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/core/sky_columns.hpp>
#include <epsflow/io/write/atomic_file.hpp>

namespace epsflow::io {
namespace {

/// Throws UsageError for columns that are not in degrees, by what files say of units, else by names.
void require_degrees(const FilePoints& points, const Metric& in_degrees) {
  std::vector<std::string> names = points.column_names;
  for (const InputRows& input : points.inputs) {
    for (std::size_t k = 0; k < input.units.size(); ++k) {
      const std::string& unit = input.units[k];
      if (unit.empty()) continue;
      if (name_of_unit(unit) != "deg") {
        throw UsageError(fmt::format(
            "{}: column {} is in {}, and GeoJSON holds degrees: say Metric::kind = MetricKind::greatcircle, "
            "which converts angles, or choose .csv",
            input.name, k < names.size() ? points.column_names[k] : std::to_string(k), unit));
      }
      if (k < names.size()) names[k].clear();
    }
  }
  if (const std::string other = other_units_of_names(names, in_degrees); !other.empty()) {
    throw UsageError(
        other + ", and GeoJSON holds degrees: convert them, rename them where the names are wrong, or choose .csv");
  }
}

/// The longitude between -180 and 180, as RFC 7946 has it. Both ends stay what they are. The remainder is exact.
template <class T>
T in_one_turn(T longitude) noexcept {
  return std::abs(longitude) <= 180 ? longitude : std::remainder(longitude, T{360}) + T{0};  // no -0
}

/// The column of longitudes, where the points have one; the other is that of latitudes.
std::optional<std::size_t> longitude_column(const FilePoints& points, const Metric& metric) {
  if (points.dims() != 2) return std::nullopt;
  if (on_sphere(metric.kind)) return latitude_comes_first(metric) ? 1 : 0;
  const Metric in_degrees{.kind = MetricKind::greatcircle};
  require_degrees(points, in_degrees);
  try {
    const std::vector<std::size_t> order = sky_columns(points.column_names, in_degrees);
    return order.empty() ? std::nullopt : std::optional(order.front());
  } catch (const UsageError&) {  // it speaks of a metric that nobody chose
    return std::nullopt;
  }
}

std::string columns_of(const FilePoints& points) {
  if (points.column_names.empty()) return format_count(points.dims(), "column") + " without names";
  return fmt::format("{}", fmt::join(points.column_names, ", "));
}

}  // namespace

void require_geojson_points(const FilePoints& points, const Metric& metric) {
  const std::optional<std::size_t> column = longitude_column(points, metric);
  if (!column) {
    throw UsageError(fmt::format(
        "GeoJSON holds longitudes and latitudes, and the points are {}: choose the two with ReadOptions::columns, say "
        "Metric::kind = MetricKind::greatcircle, or choose .csv",
        columns_of(points)));
  }
  if (on_sphere(metric.kind)) return;  // which looks at each itself
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double longitude = points.view().at(i, *column);
    const double latitude = points.view().at(i, 1 - *column);
    if (std::abs(latitude) <= 90 && longitude >= -360 && longitude <= 720) continue;
    throw InputError(fmt::format(
        "longitude {} and latitude {} in row {} are no place, and GeoJSON holds longitudes and latitudes in degrees: "
        "choose other columns, or .csv",
        format_number(longitude), format_number(latitude), format_count(i)));
  }
}

void write_geojson(const std::filesystem::path& file, const std::filesystem::path& target, const LabelledRows& rows) {
  const std::size_t column = *longitude_column(rows.points, rows.metric);
  const double degrees = in_radians(rows.metric.kind) ? 180 / std::numbers::pi : 1;
  FileStream out(file, target);
  fmt::memory_buffer text;
  const auto flush = [&] {
    out.write(std::string_view(text.data(), text.size()));
    text.clear();
  };
  const auto append = [&]<class... Values>(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(text), format, std::forward<Values>(values)...);
  };
  append(R"({{"type":"FeatureCollection","features":[)");
  rows.points.view().visit([&](auto values) {
    using T = typename decltype(values)::value_type;
    RowWalker walker(rows.points.inputs);
    while (const auto row = walker.next_point()) {
      const std::size_t i = *row->point;
      const T longitude = in_one_turn(static_cast<T>(values[2 * i + column] * degrees));
      // A pole in radians may lie a little beyond 90 degrees.
      const T latitude = std::clamp(static_cast<T>(values[2 * i + 1 - column] * degrees), T{-90}, T{90});
      append(R"({}{{"type":"Feature","geometry":{{"type":"Point","coordinates":[{},{}]}},"properties":{{"label":{})",
             i == 0 ? "\n" : ",\n", longitude, latitude, rows.result.labels[i]);
      if (rows.core) append(R"(,"core":{})", rows.result.core[i] != 0);
      if (rows.points.renumbered()) append(R"(,"row":{})", row->number);
      append("}}}}");
      if (text.size() >= kLabelledBlockBytes) flush();
    }
  });
  append("\n]}}\n");
  flush();
  out.close();
}

}  // namespace epsflow::io
