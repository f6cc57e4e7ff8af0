// The input of a command: how its words say to read it, and what was read.
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

/// Returns the options that say how to read files.
[[nodiscard]] OptionGroup input_options();
/// Returns the same for commands that have no use for weights.
[[nodiscard]] OptionGroup unweighted_input_options();
/// Returns --metric, --unit, --latitude-first, --p, --scale, --box.
[[nodiscard]] OptionGroup metric_options();
/// Returns --neighbors: FILE is a table.
[[nodiscard]] OptionGroup table_options();

/// Returns the items of a comma list, blanks around them dropped. An item in double quotes may hold commas and blanks,
/// and "" for a quote. Throws UsageError for an empty item and for a quote that is left open, naming --`option`.
[[nodiscard]] std::vector<std::string> split_list(std::string_view option, std::string_view text);
/// Returns the items of an option; none if it is not given.
[[nodiscard]] Words parse_list(const Arguments& arguments, std::string_view option);

/// Columns that options name. They are no coordinates unless --columns names them.
struct ColumnsBeside {
  Words by = {}, stats = {}, velocity = {}, ids = {};

  /// Returns the options with their columns.
  [[nodiscard]] std::array<std::pair<std::string_view, const Words*>, 4> by_option() const {
    return {{{"by", &by}, {"stats", &stats}, {"velocity", &velocity}, {"ids", &ids}}};
  }
};

/// The points that a command reads, and what distance between them is.
struct Input {
  Words files;
  io::ReadOptions options = {};
  bool has_memory = false;  ///< whether --memory is given
  Metric metric;            ///< settle() completes it
  ColumnsBeside beside = {};
  bool by_file = false;                ///< each file is a slice
  double by_width = 0;                 ///< the width of a slice along the column of --by; 0: each value is a slice
  std::optional<double> smallest_eps;  ///< of the variants that are given
  Messages messages;

  [[nodiscard]] bool sliced() const { return by_file || !beside.by.empty(); }

  /// Reads the files, and tells of each what it was taken for, its rows, the columns that became coordinates, and the
  /// rows that were dropped. Throws UsageError, InputError, ResourceError.
  [[nodiscard]] io::FilePoints read() const;
  /// Puts longitude and latitude, if their names tell which is which, into the order in which the metric takes them,
  /// and what has a unit into that of the metric (settle_units()). If names do not tell, a line says what is assumed.
  /// Throws UsageError for points that have no such metric, and for names and units that contradict each other or the
  /// metric.
  void settle(io::FilePoints& points);
  /// Reads and settles. Throws InputError if every row was dropped.
  [[nodiscard]] io::FilePoints read_settled();
  /// Reads columns beside the points. [columns] [n] Throws as io::read_columns(), and UsageError if one of them is a
  /// coordinate although --columns names none, as in a file without names, or if names differ in case alone.
  [[nodiscard]] std::vector<std::vector<double>> read_beside(const Words& names, const io::FilePoints& points) const;
  /// Loads the points, with their weights if they have any, on an engine of their own; doubts eps. Throws as Engine and
  /// Engine::load() do.
  [[nodiscard]] Dataset load(const io::FilePoints& points, const EngineOptions& engine) const;
  /// Says that eps is an angle as large as the field of the points, which is likely in another unit.
  void doubt_eps(const io::FilePoints& points) const;
  /// Returns what copies the columns of the input that was read beside the labels, and if `core` the mask of core
  /// points. A line says why it takes the coordinates alone, and what of the input is not copied. Throws UsageError,
  /// InputError.
  [[nodiscard]] io::LabelledCopy labelled_copy(const io::FilePoints& points, io::OutputFormat format, bool core) const;
};

/// Throws UsageError if standard input, which is called -, is named more than once.
void require_one_pipe(const Words& files);

/// Parses what the words of a command say of its input. Throws UsageError.
[[nodiscard]] Input parse_input(const Arguments& arguments);
/// Parses the metric alone. Throws UsageError.
[[nodiscard]] Metric parse_metric(const Arguments& arguments);

/// Makes coordinates float64.
void widen(io::FilePoints& points);
/// Exchanges the two columns of points.
void swap_columns(io::FilePoints& points);

/// Brings coordinates into the unit in which the metric takes them. Longitude and latitude, which must be in the order
/// of the metric, become degrees or radians, file by file; a line says so. For other metrics nothing is converted; a
/// line tells of columns of different units, unless Metric::scale gives each its factor. A column without a unit is
/// left as it is. Throws UsageError that names file, column and unit: for a unit that is none of angles, for a
/// longitude or latitude without a unit beside one that is converted, and for a column of different units in different
/// files.
void settle_units(io::FilePoints& points, const Metric& metric, const Messages& messages);
/// Returns the names of columns, empty for those whose unit all files say: what a name says of a unit does not count
/// there.
[[nodiscard]] std::vector<std::string> names_without_units(const io::FilePoints& points);
/// Returns the unit of each column, by the name that units are compared by; empty if no file says one. For settled
/// points.
[[nodiscard]] std::vector<std::string> units_of(const io::FilePoints& points);

/// Prints the lines of Input::read(). n, dims: of all points.
void say_what_was_read(const io::PointsOrigin& origin, std::uint64_t n, std::size_t dims);
/// Returns a place among the points as row and file, for errors: "row 7", or "row 7 of b.csv" if there are several
/// files.
[[nodiscard]] std::string row_of(const io::FilePoints& points, std::size_t point);
/// Throws InputError if every row was dropped, so that there is nothing to cluster. n: points that are left.
void require_points(const io::PointsOrigin& origin, std::uint64_t n);

/// Adds to the JSON of a result what distance was, "metric", with "eps_unit" if that is not the unit of the points; and
/// what was read: "inputs", "columns", "column_numbers", "weight" if there are weights, "dropped_rows". metric: null
/// for a table of neighbours.
void add_input(nlohmann::ordered_json& json, const io::PointsOrigin& origin, const Metric* metric);

/// What results of a table of neighbours say in place of a metric, as the Python package does.
inline constexpr std::string_view kPrecomputed = "precomputed";

/// Throws UsageError for several files, and for options that a table has no use for: those about points and their
/// search, and `more` of this command.
void require_table_options(const Arguments& arguments, const Words& more);

/// A table of neighbours in the place of points.
struct TableInput {
  io::FileNeighbors table;
  io::PointsOrigin origin;
};
/// Reads the table, and tells what it is.
[[nodiscard]] TableInput read_table(const Input& input);
/// Returns what results of the table are of. O(entries).
[[nodiscard]] io::ResultsInput results_input(const TableInput& input);

}  // namespace epsflow::cli
