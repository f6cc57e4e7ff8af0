#include <epsflow/cli/input.hpp>

#include <algorithm>

#include <epsflow/io/read/source.hpp>
#include <epsflow/sky/angle_units.hpp>

namespace epsflow::cli {
namespace {

/// Returns the unit of a column in a file; empty if the file states none.
std::string_view unit_in(const io::InputRows& input, std::size_t column) {
  return column < input.units.size() ? std::string_view(input.units[column]) : std::string_view();
}

/// Returns "column 'ra'", or "column 3" if columns have no names.
std::string shown_column(const io::FilePoints& points, std::size_t column) {
  if (column < points.column_names.size()) return "column " + io::show_text(points.column_names[column]);
  return fmt::format("column {}", column < points.column_numbers.size() ? points.column_numbers[column] : column);
}

/// A factor for each of the two coordinates.
using Factors = std::array<double, 2>;

/// Returns the factors that convert a file's longitudes and latitudes to the unit of the metric.
Factors angle_factors(const io::FilePoints& points, const io::InputRows& input, const Metric& metric) {
  const bool radians = in_radians(metric.kind);
  const std::size_t latitude = latitude_comes_first(metric) ? 0 : 1;
  Factors factors{1, 1};
  for (std::size_t k = 0; k < factors.size(); ++k) {
    const std::string_view said = unit_in(input, k);
    if (said.empty()) continue;
    const AngleUnit* const unit = find_angle_unit(said);
    if (unit == nullptr || (unit->of_longitudes && k == latitude)) {
      throw usage_error(
          "{}: {} is in {}, and {} takes {} in {}: deg, rad, arcmin, arcsec, mas, uas and, of longitudes alone, "
          "hourangle (15 degrees) are converted; convert the column, correct its unit in the file, or choose another "
          "with --columns",
          input.name, shown_column(points, k), io::show_text(said), word_of(metric.kind),
          k == latitude ? "a latitude" : "a longitude", radians ? "radians" : "degrees");
    }
    factors[k] = radians ? unit->radians : unit->degrees;
  }
  for (std::size_t k = 0; k < factors.size(); ++k) {
    if (factors[k] == 1 || !unit_in(input, 1 - k).empty()) continue;
    throw usage_error(
        "{}: {} is in {}, and {} has no unit: say that of both in the file, or convert it to {} and leave units out",
        input.name, shown_column(points, k), io::show_text(unit_in(input, k)), shown_column(points, 1 - k),
        radians ? "radians" : "degrees");
  }
  return factors;
}

void convert_angles(io::FilePoints& points, const Metric& metric, const Messages& messages) {
  const std::string_view wanted = in_radians(metric.kind) ? "rad" : "deg";
  std::vector<Factors> factors;  // all are computed before any point is changed
  for (const io::InputRows& input : points.inputs) factors.push_back(angle_factors(points, input, metric));
  std::size_t first = 0;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    io::InputRows& input = points.inputs[i];
    const std::size_t last = first + (input.rows - input.dropped.size());
    std::string said;
    for (std::size_t k = 0; k < factors[i].size(); ++k) {
      const double factor = factors[i][k];
      if (factor != 1) {
        widen(points);
        const std::span<double> values = points.values<double>();
        for (std::size_t row = first; row < last; ++row) values[row * 2 + k] *= factor;
        said += fmt::format("{}{} from {}", said.empty() ? "" : ", ", shown_column(points, k),
                            io::show_text(unit_in(input, k)));
      }
      if (!unit_in(input, k).empty()) input.units[k] = wanted;
    }
    if (!said.empty()) {
      messages.tell("{}: converted to {}: {}", input.name, wanted == "deg" ? "degrees" : "radians", said);
    }
    first = last;
  }
}

/// A column of a file that states its unit.
struct Said {
  const io::InputRows* input = nullptr;
  std::size_t column = 0;
};

std::string shown(const io::FilePoints& points, const Said& said) {
  return fmt::format("{} in {}", shown_column(points, said.column), io::show_text(unit_in(*said.input, said.column)));
}

/// Throws UsageError if a column has different units in different files. If different columns have different units,
/// prints a line: this is allowed, because numbers of one scale may be intended.
void compare_units(const io::FilePoints& points, const Metric& metric, const Messages& messages) {
  Said first;
  const Said* other = nullptr;
  std::vector<Said> known(points.dims());
  for (const io::InputRows& input : points.inputs) {
    for (std::size_t k = 0; k < input.units.size(); ++k) {
      if (input.units[k].empty()) continue;
      Said& said = known[k];
      if (said.input == nullptr) said = {&input, k};
      if (first.input == nullptr) first = said;
      const std::string_view unit = name_of_unit(input.units[k]);
      if (name_of_unit(unit_in(*said.input, k)) != unit) {
        throw usage_error("{} has {}, and {} has {}: convert one of the files", said.input->name, shown(points, said),
                          input.name, shown(points, {&input, k}));
      }
      if (other == nullptr && name_of_unit(unit_in(*first.input, first.column)) != unit) other = &said;
    }
  }
  if (other == nullptr || !metric.scale.empty()) return;
  messages.tell(
      "{}: columns of different units count alike in a distance, {} and {}: {}choose columns of one unit with "
      "--columns, or convert one",
      first.input->name, shown(points, first), shown(points, *other),
      metric.kind == MetricKind::cosine ? "" : "give each a factor with --scale, ");
}

}  // namespace

void resolve_units(io::FilePoints& points, const Metric& metric, const Messages& messages) {
  on_sphere(metric.kind) ? convert_angles(points, metric, messages) : compare_units(points, metric, messages);
}

std::vector<std::string> names_without_units(const io::FilePoints& points) {
  std::vector<std::string> names = points.column_names;
  for (std::size_t k = 0; k < names.size(); ++k) {
    const bool is_said =
        std::ranges::none_of(points.inputs, [&](const io::InputRows& input) { return unit_in(input, k).empty(); });
    if (is_said && !points.inputs.empty()) names[k].clear();
  }
  return names;
}

std::vector<std::string> units_of(const io::FilePoints& points) {
  std::vector<std::string> units(points.dims());
  for (const io::InputRows& input : points.inputs) {
    for (std::size_t k = 0; k < input.units.size(); ++k) {
      if (units[k].empty()) units[k] = name_of_unit(input.units[k]);
    }
  }
  return units;
}

}  // namespace epsflow::cli
