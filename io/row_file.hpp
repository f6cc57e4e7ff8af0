// Files whose rows can be read in any order, as often as they are needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>

#include <epsflow/core/points_source.hpp>
#include <epsflow/io/file_points.hpp>
#include <epsflow/io/read_points.hpp>

namespace epsflow::io {

/// Points that are left in their file.
struct RowFile {
  PointsOrigin origin;
  /// Reads them. Thread-safe; holds the file open. Throws InputError where it cannot be read, or has become shorter.
  PointsSource rows;
};

/// Opens a file in which points lie as they do in memory: a regular one, NPY in C order or raw, float32 or float64 of this machine's byte order, not
/// packed. nullopt for any other, and for options that choose columns, ask for weights or drop rows: read_points() takes these. Coordinates are
/// not looked at. O(1). Throws as read_points() for a file that is damaged or options that do not fit it.
[[nodiscard]] std::optional<RowFile> open_row_file(const std::filesystem::path& file, const ReadOptions& options);

/// What a file says of its points.
struct FileShape {
  PointsOrigin origin = {};
  std::size_t size = 0;
  std::size_t dims = 0;
  Precision precision = Precision::float64;

  [[nodiscard]] std::uint64_t bytes() const noexcept { return std::uint64_t{size} * dims * bytes_of(precision); }
};

/// That of a file of which rows can be read without the others, NPY, raw, FITS, HDF5 and Parquet, whose last row is read, and what the format reads
/// together with it. nullopt for any other, as text, what is packed or a pipe, and for options that ask for weights or drop rows. Throws as
/// read_points().
[[nodiscard]] std::optional<FileShape> shape_of(const std::filesystem::path& file, const ReadOptions& options);

/// Copies the coordinates of such a file into one without a name in `folder`, which goes with what is returned: n · d · 4 or 8 bytes. Of them
/// some `at_once` bytes are in memory at a time, and what the format reads together, as a row group of Parquet, which is read again for each piece that has rows of it. Throws as read_points(), InputError
/// where the file is changed meanwhile, and ResourceError where the folder has no room.
[[nodiscard]] RowFile copy_rows(const std::filesystem::path& file, const ReadOptions& options, FileShape shape,
                                const std::filesystem::path& folder, std::uint64_t at_once);

}  // namespace epsflow::io
