// Labelled FITS tables: those of the input with all their columns, or coordinates, with the labels beside them.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <epsflow/io/file_points.hpp>
#include <epsflow/io/read_points.hpp>
#include <epsflow/io/write/labelled_rows.hpp>

namespace epsflow::io {

/// The names of the columns of the tables that are to follow each other as one. Throws InputError where they differ in
/// their columns, where several have columns of variable length, or more columns than leave room for the labels; and
/// where one is not what it was when it was read as `points`.
[[nodiscard]] std::vector<std::string> fits_column_names(std::span<const std::filesystem::path> files,
                                                         const ReadOptions& options, const FilePoints& points);

/// What of such files write_fits_copy() leaves out, in words: keywords of the primary headers, other extensions; empty where there
/// is nothing else. Throws as fits_column_names().
[[nodiscard]] std::string fits_left_out(std::span<const std::filesystem::path> files, const ReadOptions& options,
                                        const FilePoints& points);

/// Copies the table of the first file with its keywords, types and units, puts the rows of the others behind it, and the
/// labels beside them (int32; null, TNULL, in dropped rows). The files are plain ones. O(bytes); memory: some MiB.
/// Throws InputError where a file is not what it was when it was read, ResourceError naming `target`.
void write_fits_copy(const std::filesystem::path& file, const std::filesystem::path& target,
                     std::span<const std::filesystem::path> inputs, const ReadOptions& options,
                     const LabelledRows& rows);

/// Throws UsageError for names that the columns of no FITS table can have, or too many of them.
void require_fits_names(std::span<const std::string> names);

/// Writes one row for each point: its coordinates under `names`, and its row where points are renumbered. O(n·d).
void write_fits_coordinates(const std::filesystem::path& file, const std::filesystem::path& target,
                            std::span<const std::string> names, const LabelledRows& rows);

}  // namespace epsflow::io
