// The input of a command: the options for reading, and the points.
#pragma once

#include <array>
#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include <epsflow/cli/arguments.hpp>
#include <epsflow/core/metric.hpp>
#include <epsflow/io/file_points.hpp>
#include <epsflow/io/labelled_copy.hpp>
#include <epsflow/io/read_neighbors.hpp>
#include <epsflow/io/read_points.hpp>
#include <epsflow/io/results/results_folder.hpp>
#include <epsflow/pipeline/engine.hpp>

namespace epsflow::cli {

/// Returns the options for reading files.
[[nodiscard]] OptionGroup input_options();
/// Returns the options for reading files except --weight.
[[nodiscard]] OptionGroup unweighted_input_options();
/// Returns --metric, --unit, --latitude-first, --p, --scale, --box.
[[nodiscard]] OptionGroup metric_options();
/// Returns --neighbors, with which FILE is a table of neighbours.
[[nodiscard]] OptionGroup table_options();

/// Returns the items of an option, a comma list, without surrounding blanks; empty if it is not given. An item in
/// double quotes may contain commas, blanks, and "" for a quote. Throws UsageError for an empty item and for an
/// unclosed quote.
[[nodiscard]] Words parse_list(const Arguments& arguments, std::string_view option);

/// The columns that options name. They are not coordinates unless --columns names them.
struct NamedColumns {
  Words by = {}, stats = {}, velocity = {}, ids = {};

  /// Returns the options with their columns.
  [[nodiscard]] std::array<std::pair<std::string_view, const Words*>, 4> by_option() const {
    return {{{"by", &by}, {"stats", &stats}, {"velocity", &velocity}, {"ids", &ids}}};
  }
};

/// The points that a command reads, and the metric.
struct Input {
  Words files;
  io::ReadOptions options = {};
  bool has_memory = false;             ///< whether --memory is given
  Metric metric;                       ///< resolve() completes it
  NamedColumns beside = {};            ///< the columns that options name
  bool by_file = false;                ///< each file is a slice
  double by_width = 0;                 ///< the width of a slice along the column of --by; 0: each value is a slice
  std::optional<double> smallest_eps;  ///< the smallest eps of the given variants
  Messages messages;

  [[nodiscard]] bool sliced() const { return by_file || !beside.by.empty(); }

  /// Reads the files. Unless --quiet is given, prints for each of the first files the detected kind, the number of
  /// rows, the coordinate columns and the dropped rows. Throws UsageError, InputError, ResourceError.
  [[nodiscard]] io::FilePoints read() const;
  /// Brings longitude and latitude into the order of the metric, if column names identify them, and coordinates into
  /// the unit of the metric (resolve_units()). If names do not identify them, prints the order that is assumed. Throws
  /// UsageError if the points do not fit the metric, or if names and units contradict each other or the metric.
  void resolve(io::FilePoints& points);
  /// Reads and resolves. Throws InputError if every row was dropped.
  [[nodiscard]] io::FilePoints read_resolved();
  /// Reads columns beside the points: [columns] [n]. Throws as io::read_columns(). Also throws UsageError if a column
  /// is a coordinate although --columns is not given, as in a file without names, or if names differ only in case.
  [[nodiscard]] std::vector<std::vector<double>> read_beside(const Words& names, const io::FilePoints& points) const;
  /// Loads the points and any weights on a new engine, and calls doubt_eps(). Throws as Engine and Engine::load().
  [[nodiscard]] Dataset load(const io::FilePoints& points, const EngineOptions& engine) const;
  /// Prints a warning if smallest_eps is an angle as large as the field of the points, because its unit is then
  /// probably wrong; with --quiet nothing.
  void doubt_eps(const io::FilePoints& points) const;
  /// Returns a writer that copies the columns of the input beside the labels and `added`. Prints why only coordinates
  /// are copied, and which parts of the input are not. Throws UsageError, InputError.
  [[nodiscard]] io::LabelledCopy labelled_copy(const io::FilePoints& points, io::OutputFormat format,
                                               io::AddedColumns added) const;
};

/// Throws UsageError if standard input, which is named -, occurs more than once.
void require_one_pipe(const Words& files);

/// Parses the options for the input. Throws UsageError.
[[nodiscard]] Input parse_input(const Arguments& arguments);
/// Parses the metric alone. Throws UsageError.
[[nodiscard]] Metric parse_metric(const Arguments& arguments);

/// Converts coordinates to float64.
void widen(io::FilePoints& points);
/// Swaps the two columns of points, with their names, numbers and units.
void swap_columns(io::FilePoints& points);

/// Converts coordinates to the unit of the metric. Longitude and latitude, which must be in the order of the metric,
/// become degrees or radians, file by file; a line is printed. For other metrics nothing is converted; a line is
/// printed if columns have different units, unless Metric::scale gives each its factor. Columns without a unit are left
/// as they are. Throws UsageError that names file, column and unit: for a unit that is not an angle, for a longitude or
/// latitude without a unit beside one that is converted, and for a column with different units in different files.
void resolve_units(io::FilePoints& points, const Metric& metric, const Messages& messages);
/// Returns the names of the columns. The name of a column becomes empty if all files state its unit, because a unit in
/// its name then does not count.
[[nodiscard]] std::vector<std::string> names_without_units(const io::FilePoints& points);
/// Returns [d] the canonical name of the unit of each column; an empty text if no file states its unit. The points must
/// be resolved.
[[nodiscard]] std::vector<std::string> units_of(const io::FilePoints& points);

/// Prints the lines of Input::read(). n, dims: of all points.
void say_what_was_read(const io::PointsOrigin& origin, std::uint64_t n, std::size_t dims);
/// Returns the row and file of a point, for errors: "row 7", or "row 7 of b.csv" if there are several files.
[[nodiscard]] std::string row_of(const io::FilePoints& points, std::size_t point);
/// Throws InputError if every row was dropped, so that nothing is left to cluster. n: the number of remaining points.
void require_points(const io::PointsOrigin& origin, std::uint64_t n);

/// Adds the metric and the input to the JSON of a result: "metric", "eps_unit" if the metric defines one, "inputs",
/// "columns", "column_numbers", "weight" if there are weights, and "dropped_rows". metric: null for a table.
void add_input(nlohmann::ordered_json& json, const io::PointsOrigin& origin, const Metric* metric);

/// The name of the metric in results of a table of neighbours, as in the Python package.
inline constexpr std::string_view kPrecomputed = "precomputed";

/// Throws UsageError for several files, and for options that do not apply to a table: the options for points and their
/// search, and `more` of this command.
void require_table_options(const Arguments& arguments, const Words& more);

/// A table of neighbours in place of points.
struct TableInput {
  io::FileNeighbors table;
  io::PointsOrigin origin;
};
/// Reads the table, and prints its description unless --quiet is given.
[[nodiscard]] TableInput read_table(const Input& input);
/// Returns the description of the table for a results folder. O(entries).
[[nodiscard]] io::ResultsInput results_input(const TableInput& input);

}  // namespace epsflow::cli
