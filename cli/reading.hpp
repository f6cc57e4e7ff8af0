// The input of a command: how to read it, and what was read.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include <epsflow/cli/arguments.hpp>
#include <epsflow/core/metric.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/io/file_points.hpp>
#include <epsflow/io/labelled_copy.hpp>
#include <epsflow/io/read_points.hpp>
#include <epsflow/io/results/variant_writer.hpp>

namespace epsflow::cli {

/// The options that say how to read files.
[[nodiscard]] OptionGroup input_options();
/// The same for commands that have no use for weights.
[[nodiscard]] OptionGroup unweighted_input_options();

/// The items of a comma list, blanks around them dropped. An item in double quotes may hold commas and blanks, and ""
/// for a quote. Throws UsageError for an empty item and for a quote that is left open, naming --`option`.
[[nodiscard]] std::vector<std::string> split_list(std::string_view option, std::string_view text);

/// What the command line says about reading. Throws UsageError.
[[nodiscard]] io::ReadOptions read_options(const Arguments& arguments);

/// Reads the files that the command names, and unless --quiet is given prints a line on each: what it was taken for, its
/// rows, the columns that became coordinates, the rows that were dropped. Throws UsageError, InputError, ResourceError.
[[nodiscard]] io::FilePoints read_input(const Arguments& arguments);

/// Makes coordinates float64.
void widen(io::FilePoints& points);

/// The lines that read_input() prints. n, dims: of all points.
void say_what_was_read(const io::PointsOrigin& origin, std::uint64_t n, std::size_t dims);

/// What copies the columns of the input that was read beside the labels, and the mask of core points where `core`; where
/// it takes the coordinates alone a line says so, and why, unless --quiet is given; likewise what of the input is not copied.
/// Throws UsageError, InputError.
[[nodiscard]] io::LabelledCopy labelled_copy(const Arguments& arguments, const io::FilePoints& points,
                                             io::OutputFormat format, bool core, const Metric& metric);

/// What writes such copies into a results folder. The copy must outlive it.
[[nodiscard]] io::VariantWriter labelled_writer(const io::LabelledCopy& copy, const std::string& extension);

/// Throws InputError where every row was dropped, so that there is nothing to cluster. n: points that are left.
void require_points(const io::PointsOrigin& origin, std::uint64_t n);
inline void require_points(const io::FilePoints& points) { require_points(points, points.size()); }

/// Adds to the JSON of a result what distance was: "metric", and "eps_unit" where that is not the unit of the points.
void add_metric(nlohmann::ordered_json& json, const Metric& metric);

/// Adds to the JSON of a result what was read: "inputs", "columns", "column_numbers", "weight" where there are
/// weights, "dropped_rows".
void add_input(nlohmann::ordered_json& json, const io::PointsOrigin& origin);

}  // namespace epsflow::cli
