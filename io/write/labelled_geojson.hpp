// Labelled places on the earth, or in the sky, as GeoJSON (RFC 7946).
#pragma once

#include <filesystem>

#include <epsflow/core/metric.hpp>
#include <epsflow/io/file_points.hpp>
#include <epsflow/io/write/labelled_rows.hpp>

namespace epsflow::io {

/// Throws UsageError for points that are no longitudes and latitudes: neither by the metric nor, with another metric, by the names
/// of two columns (core/sky_columns.hpp), which are then in degrees. InputError where these are out of range. O(n).
void require_geojson_points(const FilePoints& points, const Metric& metric);

/// Writes a FeatureCollection with a Point for each point: longitude and latitude, in this order and in degrees, each with the fewest
/// digits that read back as the same. Longitudes beyond ±180 are moved by whole turns to between them, which is exact. Its properties are `label`, `core` (true or false) where asked for, and `row` where points are
/// renumbered. The points are such as require_geojson_points() accepts. O(n); memory: a MiB. Throws ResourceError naming `target`.
void write_geojson(const std::filesystem::path& file, const std::filesystem::path& target, const LabelledRows& rows);

}  // namespace epsflow::io
