// Files whose rows can be read in any order, as often as they are needed.
#pragma once

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

}  // namespace epsflow::io
