// Labelled points for ParaView and whatever else reads VTK's files.
#pragma once

#include <filesystem>

#include <epsflow/io/file_points.hpp>
#include <epsflow/io/write/labelled_rows.hpp>

namespace epsflow::io {

/// Throws UsageError for points of more than three dimensions.
void require_vtp_points(const FilePoints& points);

/// Writes VTK's XML PolyData, with the arrays appended as raw little-endian bytes: the points in their precision, missing coordinates
/// 0; a vertex for each, as ParaView shows no others; `label` (int32) as data of the points, and `core` (uint8) where asked for, and
/// `row` (int64) where points are renumbered. O(n); memory: a MiB. Throws ResourceError naming `target`.
void write_vtp(const std::filesystem::path& file, const std::filesystem::path& target, const LabelledRows& rows);

}  // namespace epsflow::io
