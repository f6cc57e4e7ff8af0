// Files of a results folder about how clusters lie in each other: the map of a sweep and its lineage, map.csv and
// lineage.npz; and hierarchies, and condensed trees with the clusters that are selected, hierarchy.npz.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <epsflow/core/sweep.hpp>
#include <epsflow/io/file_points.hpp>
#include <epsflow/io/write/npz_writer.hpp>
#include <epsflow/pipeline/explore.hpp>
#include <epsflow/pipeline/hierarchy.hpp>
#include <epsflow/pipeline/lineage.hpp>
#include <epsflow/report/report.hpp>

namespace epsflow::cli {

/// Writes a CSV file with a row for each cell: eps, minpts, clusters, noise, core, border, largest; the adjusted Rand
/// index of the clusters' core points with the cell of the next larger eps, and with the cell of the next smaller
/// minpts (empty at the edge); relative validity (empty if it is not defined); and if there are scores, score and
/// credit. scores: [cells] in the order of the lineage, or empty. Replaces an existing file. Throws ResourceError.
void write_map(const std::filesystem::path& file, const Lineage& lineage, std::span<const CellScore> scores = {});

/// Returns the scores in a file that write_map() wrote with scores. Throws InputError for other and for damaged files.
[[nodiscard]] std::vector<std::pair<Variant, double>> read_scores(const std::filesystem::path& file);

/// Writes an NPZ file. origin, points: the source and the number of the points of the lineage. Arrays of cells, in the
/// order of the sweep: eps, minpts, clusters, core, noise, wider, looser, each [cells], and offsets, [cells + 1], the
/// first entry of each cell in the arrays of clusters: first_core, core_points, size, parent_eps, parent_minpts.
/// first_core contains input rows, counted over all files including dropped rows. wider and looser are numbers of the
/// cells of the next larger eps and of the next smaller minpts; parent_eps and parent_minpts are the clusters there
/// that contain a cluster. They are −1 at the edge of the grid. Replaces an existing file. Throws ResourceError.
void write_lineage(const std::filesystem::path& file, const Lineage& lineage, const io::PointsOrigin& origin,
                   std::uint64_t points);

/// Returns the lineage in a file that write_lineage() wrote. Each LineageCell::first_core becomes 0, 1, …, as input
/// rows may exceed 32 bits. Throws InputError for other and for damaged files, UsageError in a build without libzip.
[[nodiscard]] Lineage read_lineage(const std::filesystem::path& file);

/// Writes hierarchy.npz, whose arrays docs/howto/files.md lists. Call close() after the last add(), else the file is
/// not readable. Throws as io::NpzWriter.
class TreeWriter {
 public:
  /// file: the file to write. target: its name in errors.
  TreeWriter(const std::filesystem::path& file, const std::filesystem::path& target) : out_(file, target) {}

  /// Adds a hierarchy. Call it at most once for each minpts.
  void add(const Hierarchy& tree);
  /// Adds the condensed tree of a variant. selected: for each label the index of its cluster in the tree.
  void add(const Variant& variant, const CondensedTree& tree, const std::vector<std::uint32_t>& selected);
  void close() { out_.close(); }

 private:
  io::NpzWriter out_;
};

/// Reads the condensed trees of a hierarchy.npz. Throws InputError for other files, UsageError in a build without
/// libzip.
class TreeReader {
 public:
  explicit TreeReader(std::filesystem::path file);

  /// Returns the clusters of the condensed tree of a variant. Throws InputError if the file lacks it or is damaged.
  [[nodiscard]] std::vector<report::TreeCluster> read(const Variant& variant) const;

 private:
  std::filesystem::path file_;
  std::function<io::FilePoints(std::vector<std::string>)> columns_;
};

}  // namespace epsflow::cli
