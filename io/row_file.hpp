// Files whose rows can be read in any order, as often as they are needed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include <epsflow/core/points_source.hpp>
#include <epsflow/io/file_points.hpp>
#include <epsflow/io/read_points.hpp>

namespace epsflow::io {

/// Points that stay in their file.
struct RowFile {
  PointsOrigin origin;
  /// Their shape, and the function that reads rows. The function is thread-safe, holds the file open, and throws
  /// InputError if the file cannot be read or has become shorter. It is empty in a result of shape_of(), from which
  /// copy_rows() makes one that has it.
  PointsSource rows;
};

/// Opens a file that stores points as they lie in memory: a regular, unpacked file, NPY of two axes in C order or raw,
/// of float32 or float64 in this machine's byte order. Returns nullopt for any other file that read_points() takes, for
/// options that choose columns or name weights, and unless on_nan is NanPolicy::error. Throws as read_points() if the
/// file is missing, or if such a file is damaged or has too many rows. For another file or options that read_points()
/// refuses, throws as it does or returns nullopt. Ignores options.share. Does not look for NaN. O(1).
[[nodiscard]] std::optional<RowFile> open_row_file(const std::filesystem::path& file, const ReadOptions& options);

/// Returns the origin and the shape of a file whose rows can be read in shares, without the function that reads rows:
/// NPY, raw, FITS, HDF5 or Parquet. Reads the last row, and whatever the format must read together with it, to check
/// that the file is complete. Returns nullopt for text, packed files, pipes and other formats, for options that name
/// weights, and unless on_nan is NanPolicy::error. Ignores options.share. Throws as read_points().
[[nodiscard]] std::optional<RowFile> shape_of(const std::filesystem::path& file, const ReadOptions& options);

/// Copies the coordinates of a file for which shape_of() with the same options returned `found` to a file without a
/// name in `folder`, of n · d · 4 or 8 bytes. The system deletes that file when the function of the result is
/// destroyed. Memory: about `at_once` bytes, and whatever the format reads together. A row group of Parquet, for
/// example, is read again for each piece that has rows of it. Throws as read_points(), InputError if the file changes
/// meanwhile, and ResourceError if the folder lacks space.
[[nodiscard]] RowFile copy_rows(const std::filesystem::path& file, const ReadOptions& options, RowFile found,
                                const std::filesystem::path& folder, std::uint64_t at_once);

}  // namespace epsflow::io
