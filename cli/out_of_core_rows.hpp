// Points that stay in their file, because memory cannot hold them beside the clustering.
#pragma once

#include <epsflow/cli/running.hpp>
#include <epsflow/io/row_file.hpp>
#include <epsflow/pipeline/sweep.hpp>

namespace epsflow::cli {

/// The only file of a command.
struct OutOfCoreRows {
  io::FileShape shape;
  std::optional<io::RowFile> file;  ///< empty if its rows do not lie in the file as in memory
  parts::SharingAnswer sharing;     ///< sharing by parts
};

/// Returns the file if its points stay there. This is so if: rows can be read with random access or can be copied; the
/// metric does not transform points; the coordinates take more than half of the memory (or more than all of it if they
/// must be copied); and the sweep is made in parts. Settles the metric with the columns of the file, and prints a
/// description of the file. Throws as Input::read().
[[nodiscard]] std::optional<OutOfCoreRows> rows_to_leave(Input& input, const Sweep& sweep, RunSettings settings);

/// Returns the file, or a copy near `out` if its rows can be read only in order. Throws as io::copy_rows().
[[nodiscard]] io::RowFile keep_on_disk(const Input& input, OutOfCoreRows rows, const std::filesystem::path& out);

/// Returns the description of the file for a results folder. Reads it once. Throws InputError for a coordinate that is
/// NaN or infinite.
[[nodiscard]] io::ResultsInput results_input(const io::RowFile& file);

}  // namespace epsflow::cli
