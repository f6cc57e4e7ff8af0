// Points that are left in their file, as memory has no room for them beside what is made of them.
#pragma once

#include <filesystem>
#include <optional>

#include <epsflow/cli/arguments.hpp>
#include <epsflow/cli/running.hpp>
#include <epsflow/core/metric.hpp>
#include <epsflow/io/results/results_folder.hpp>
#include <epsflow/io/row_file.hpp>
#include <epsflow/pipeline/sweep.hpp>

namespace epsflow::cli {

/// The one file that the command names, where its rows can be left in it, the metric leaves points in their places, and their coordinates would
/// take more than half of the memory and the sweep is to be made in parts; else nullopt. Of a file whose rows can be read in their order alone it
/// is a copy, where `out` is or will be; the metric is settled with the file's columns. Unless --quiet is given prints a line on it. Throws as read_input() and io::copy_rows().
[[nodiscard]] std::optional<io::RowFile> rows_to_leave(const Arguments& arguments, const Sweep& sweep, Metric& metric,
                                                       RunSettings settings, const std::filesystem::path& out);

/// What a results folder says of it. Reads it once. Throws InputError for a coordinate that is NaN or infinite.
[[nodiscard]] io::ResultsInput results_input(const io::RowFile& file);

}  // namespace epsflow::cli
