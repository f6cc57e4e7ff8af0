// The map of a sweep and its lineage as files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include <epsflow/io/file_points.hpp>
#include <epsflow/pipeline/explore.hpp>
#include <epsflow/pipeline/lineage.hpp>

namespace epsflow::cli {

/// Writes a row per cell: eps, minpts, clusters, noise, core, border, largest; how its core points, as its clusters
/// part them, agree with the cell of the next larger eps, and with that of the next smaller minpts (adjusted Rand
/// index; empty at the edge); and if there are scores, score and credit. scores: [cells] in the order of the lineage's
/// cells, or none. Throws ResourceError.
void write_map(const std::filesystem::path& file, const Lineage& lineage, std::span<const CellScore> scores = {});

/// Writes an NPZ file. origin, points: of what the lineage is. first_core are rows of the input; rows that were
/// dropped, and those of files before, are counted. Of cells, in the order of the sweep: eps, minpts, clusters, core,
/// noise, wider, looser, each [cells], and offsets, [cells + 1]: where the clusters of each begin in the arrays of all
/// clusters, which are first_core, core_points, size, in_wider, in_looser. wider and looser are the numbers of cells,
/// in_wider and in_looser those of clusters there; -1 if there is none. Throws UsageError in a build without libzip,
/// ResourceError.
void write_lineage(const std::filesystem::path& file, const Lineage& lineage, const io::PointsOrigin& origin,
                   std::uint64_t points);

/// Reads what write_lineage() wrote, but for LineageCell::first_core, which are places in the cell's list. Throws
/// InputError for a file that it did not write, UsageError in a build without libzip.
[[nodiscard]] Lineage read_lineage(const std::filesystem::path& file);

}  // namespace epsflow::cli
