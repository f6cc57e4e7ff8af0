// Points that are left in their file, as memory has no room for them beside what is made of them.
#pragma once

#include <epsflow/cli/running.hpp>
#include <epsflow/io/row_file.hpp>
#include <epsflow/pipeline/sweep.hpp>

namespace epsflow::cli {

/// The one file that the command names.
struct RowsToLeave {
  io::FileShape shape;
  std::optional<io::RowFile> file;  ///< if its rows lie there as in memory
  parts::SharingAnswer sharing;     ///< by parts
};

/// Returns the file if its points are to be left there: rows of it can be read without all others, the metric leaves
/// points in their places, the coordinates would take more than half of the memory, or more than all of it if they have
/// to be copied, and the sweep is to be made in parts. Settles the metric with the file's columns, and tells of the
/// file. Throws as Input::read().
[[nodiscard]] std::optional<RowsToLeave> rows_to_leave(Input& input, const Sweep& sweep, RunSettings settings);

/// Returns the file, or a copy beside `out` if its rows can be read in their order alone. Throws as io::copy_rows().
[[nodiscard]] io::RowFile leave_rows(const Input& input, RowsToLeave rows, const std::filesystem::path& out);

/// Returns what a results folder says of the file. Reads it once. Throws InputError for a coordinate that is NaN or
/// infinite.
[[nodiscard]] io::ResultsInput results_input(const io::RowFile& file);

}  // namespace epsflow::cli
