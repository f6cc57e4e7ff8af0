// Points that stay in their file, because memory cannot hold the points together with the data of the clustering.
#pragma once

#include <epsflow/cli/running.hpp>
#include <epsflow/io/row_file.hpp>
#include <epsflow/pipeline/sweep.hpp>

namespace epsflow::cli {

/// The only input file of a command, whose points are not read into memory as a whole.
struct OutOfCoreRows {
  io::RowFile file;              ///< its rows.write is empty if keep_on_disk() must copy the rows
  parts::SharingAnswer sharing;  ///< the choice of Sharing::parts, with the number of parts
};

/// Returns the rows of the file if its points stay in the file, else nullopt. They stay if the command has one input
/// file, which io::open_row_file() opens or io::copy_rows() can copy; if neither the metric nor the periodic box of a
/// snapshot transforms points; if the coordinates take more than half of ReadOptions::memory, or more than all of it if
/// they must be copied; and if the sweep is made in parts. A file that must be copied and has at most 1/32 of
/// ReadOptions::memory is not looked at. If the points stay, Input::resolve() completes the metric of `input` by the
/// columns of the file, and a description of the file is printed unless --quiet is given. Throws as Input::read().
[[nodiscard]] std::optional<OutOfCoreRows> rows_to_leave(Input& input, const Sweep& sweep, RunSettings settings);

/// Returns rows.file. If its rows.write is empty, because the file does not store the rows as they lie in memory or
/// because columns are chosen, returns a copy: an unnamed file, which is deleted together with the result. The copy is
/// in `out`, or in the nearest existing folder above if `out` does not exist; a line about it is printed unless --quiet
/// is given. Throws as io::copy_rows().
[[nodiscard]] io::RowFile keep_on_disk(const Input& input, OutOfCoreRows rows, const std::filesystem::path& out);

/// Returns the description of the file, with a checksum, for a results folder. Reads all rows once. Throws InputError
/// for a coordinate that is NaN or infinite, and as RowFile::rows.write.
[[nodiscard]] io::ResultsInput results_input(const io::RowFile& file);

}  // namespace epsflow::cli
