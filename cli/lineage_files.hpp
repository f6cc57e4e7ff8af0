// The map of a sweep and its lineage as files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include <epsflow/io/file_points.hpp>
#include <epsflow/pipeline/explore.hpp>
#include <epsflow/pipeline/lineage.hpp>

namespace epsflow::cli {

/// Writes a row for each cell: eps, minpts, clusters, noise, core, border, largest; the adjusted Rand index of the
/// clusters' core points with the cell of the next larger eps, and with the cell of the next smaller minpts (empty at
/// the edge); relative validity; and if there are scores, score and credit. scores: [cells] in the order of the
/// lineage, or empty. Throws ResourceError.
void write_map(const std::filesystem::path& file, const Lineage& lineage, std::span<const CellScore> scores = {});

/// Writes an NPZ file. origin, points: the points of the lineage. first_core contains input rows, counted over all
/// files including dropped rows. Arrays of cells, in the order of the sweep: eps, minpts, clusters, core, noise, wider,
/// looser, each [cells], and offsets, [cells + 1], the first entry of each cell in the arrays of clusters: first_core,
/// core_points, size, in_wider, in_looser. wider and looser are numbers of cells, in_wider and in_looser are numbers of
/// clusters in these; −1 if there is none. Throws ResourceError.
void write_lineage(const std::filesystem::path& file, const Lineage& lineage, const io::PointsOrigin& origin,
                   std::uint64_t points);

/// Reads a file that write_lineage() wrote. LineageCell::first_core become indices in the list of the cell. Throws
/// InputError for other files, UsageError in a build without libzip.
[[nodiscard]] Lineage read_lineage(const std::filesystem::path& file);

}  // namespace epsflow::cli
