// Labelled CSV: the columns of a text table, or coordinates, with the labels beside them.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <epsflow/io/file_points.hpp>
#include <epsflow/io/read_points.hpp>
#include <epsflow/io/write/labelled_rows.hpp>

namespace epsflow::io {

/// The names of all columns of text tables that are to follow each other as one: those of the first file that has names,
/// or x0, x1, …. Throws InputError where the files have different columns, and where one of them is not what it was when
/// it was read as `points`.
[[nodiscard]] std::vector<std::string> text_column_names(std::span<const std::filesystem::path> files,
                                                         const ReadOptions& options, const FilePoints& points);

/// What of such files write_csv_copy() leaves out before their rows, in words; empty where there is nothing. Throws as
/// text_column_names().
[[nodiscard]] std::string text_left_out(std::span<const std::filesystem::path> files, const ReadOptions& options,
                                        const FilePoints& points);

/// Writes one row for each row of the text files, with all of its fields as they are, under a header of `names` and those
/// of the labels; comments, blank lines and units are left out. Dropped rows have empty labels. Fields are parted by
/// commas, or by semicolons where commas are decimal marks. O(bytes); memory: some MiB. Throws InputError where a file is
/// not what it was when it was read, ResourceError naming `target`.
void write_csv_copy(const std::filesystem::path& file, const std::filesystem::path& target,
                    std::span<const std::filesystem::path> inputs, const ReadOptions& options,
                    std::span<const std::string> names, const LabelledRows& rows);

/// Writes one row for each point: its coordinates under `names`, and its row where points are renumbered. O(n·d).
void write_csv_coordinates(const std::filesystem::path& file, const std::filesystem::path& target,
                           std::span<const std::string> names, const LabelledRows& rows);

}  // namespace epsflow::io
