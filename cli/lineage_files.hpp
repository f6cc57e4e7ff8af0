// The map of a sweep and its lineage as files: map.csv and lineage.npz of a results folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include <epsflow/io/file_points.hpp>
#include <epsflow/pipeline/explore.hpp>
#include <epsflow/pipeline/lineage.hpp>

namespace epsflow::cli {

/// Writes a CSV file with a row for each cell: eps, minpts, clusters, noise, core, border, largest; the adjusted Rand
/// index of the clusters' core points with the cell of the next larger eps, and with the cell of the next smaller
/// minpts (empty at the edge); relative validity (empty if it is not defined); and if there are scores, score and
/// credit. scores: [cells] in the order of the lineage, or empty. Replaces an existing file. Throws ResourceError.
void write_map(const std::filesystem::path& file, const Lineage& lineage, std::span<const CellScore> scores = {});

/// Writes an NPZ file. origin, points: the source and the number of the points of the lineage. Arrays of cells, in the
/// order of the sweep: eps, minpts, clusters, core, noise, wider, looser, each [cells], and offsets, [cells + 1], the
/// first entry of each cell in the arrays of clusters: first_core, core_points, size, in_wider, in_looser. first_core
/// contains input rows, counted over all files including dropped rows. wider and looser are numbers of the cells of the
/// next larger eps and of the next smaller minpts; in_wider and in_looser are the clusters there that contain a
/// cluster. They are −1 at the edge of the grid. Replaces an existing file. Throws ResourceError.
void write_lineage(const std::filesystem::path& file, const Lineage& lineage, const io::PointsOrigin& origin,
                   std::uint64_t points);

/// Returns the lineage in a file that write_lineage() wrote. Each LineageCell::first_core becomes 0, 1, …, as input
/// rows may exceed 32 bits. Throws InputError for other and for damaged files, UsageError in a build without libzip.
[[nodiscard]] Lineage read_lineage(const std::filesystem::path& file);

}  // namespace epsflow::cli
