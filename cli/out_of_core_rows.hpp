// Points that stay in their file, because memory cannot hold them beside the clustering.
#pragma once

#include <epsflow/cli/running.hpp>
#include <epsflow/io/row_file.hpp>
#include <epsflow/pipeline/sweep.hpp>

namespace epsflow::cli {

/// The only input file of a command, whose points are not read into memory as a whole.
struct OutOfCoreRows {
  io::RowFile file;              ///< its rows.write is empty if rows must be copied: keep_on_disk()
  parts::SharingAnswer sharing;  ///< sharing by parts
};

/// Returns the file if its points stay there, else nullopt. They stay if the command has one input file, whose rows can
/// be read in any order or can be copied; if the metric and the file's box do not transform points; if the coordinates
/// take more than half of ReadOptions::memory, or more than all of it if they must be copied; and if the sweep is made
/// in parts. Then it resolves the metric with the columns of the file, and prints a description of the file unless
/// --quiet is given. Throws as Input::read().
[[nodiscard]] std::optional<OutOfCoreRows> rows_to_leave(Input& input, const Sweep& sweep, RunSettings settings);

/// Returns the file, or a copy if its rows can be read only in order. The copy is a file without a name in `out`, or in
/// the nearest existing folder above. Throws as io::copy_rows().
[[nodiscard]] io::RowFile keep_on_disk(const Input& input, OutOfCoreRows rows, const std::filesystem::path& out);

/// Returns the description of the file, with a checksum, for a results folder. Reads all rows once. Throws InputError
/// for a coordinate that is NaN or infinite.
[[nodiscard]] io::ResultsInput results_input(const io::RowFile& file);

}  // namespace epsflow::cli
