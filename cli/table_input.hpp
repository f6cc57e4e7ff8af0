// A table of neighbours in the place of points.
#pragma once

#include <string_view>

#include <epsflow/cli/arguments.hpp>
#include <epsflow/io/file_points.hpp>
#include <epsflow/io/read_neighbors.hpp>
#include <epsflow/io/results/results_manifest.hpp>

namespace epsflow::cli {

/// What results of a table say in place of a metric, as the Python package does.
inline constexpr std::string_view kPrecomputed = "precomputed";

/// --neighbors: FILE is a table.
[[nodiscard]] OptionGroup table_options();

/// Throws UsageError for several files, and for options that a table has no use for: those about points and their search, and `more`
/// of this command.
void require_table_options(const Arguments& arguments, const Words& more);

struct TableInput {
  io::FileNeighbors table;
  io::PointsOrigin origin;
};

/// Reads it, and says what it is unless --quiet is given.
[[nodiscard]] TableInput read_table(const Arguments& arguments);

/// What results of it are of. O(entries).
[[nodiscard]] io::ResultsInput results_input(const TableInput& input);

}  // namespace epsflow::cli
