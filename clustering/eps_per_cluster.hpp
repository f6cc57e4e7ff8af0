// Clusterings in which each cluster has its own eps. Their clusters are chosen from the cells of a grid that have one
// minpts. They are for points whose groups differ so much in density that no single eps shows them all.
//
// The functions need nothing but the lineage and the scores of the grid. docs/choosing.md gives the source of each
// constant and the results on many data sets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <epsflow/clustering/map_scores.hpp>

namespace epsflow {

/// A cluster of one cell of a grid. A cell is the clustering for one eps and one minpts.
struct CellCluster {
  std::size_t eps = 0;        ///< index of the eps of its cell
  std::uint32_t cluster = 0;  ///< its number in the cell

  friend bool operator==(const CellCluster&, const CellCluster&) = default;
};

/// Clusters of which none is in another. All have one minpts.
struct EpsPerCluster {
  std::size_t minpts = 0;             ///< index in the grid
  std::vector<CellCluster> clusters;  ///< by their first core points
  /// [clusters] The logarithm of each cluster's density, plus a number that is the same for all clusters: −D · ln(eps).
  /// D is the effective dimension. eps is the smallest one of the grid at which the cluster has at least 30 % of the
  /// core points that it has at its own eps. Empty for grown clusters.
  std::vector<double> log_density;
  double score = 0;  ///< can be compared with CellScore::score
  double noise = 1;  ///< share of the points in none of the clusters; of grown clusters CellScore::noise of the cell

  /// Returns the different eps of the clusters, as ascending indices.
  [[nodiscard]] std::vector<std::size_t> all_eps() const;
};

/// Returns the clusters of a cell after each has grown from eps to eps. A cluster stops before the eps at which it
/// would contain another cluster of the cell, or one of MapScores::big_clusters() of the eps before other than itself.
/// No eps is more than 1.5 times the one of the cell. If CellScore::noise of the cell is above 0.15, no cluster grows,
/// because it would take in true noise. score and noise are the cell's. O(eps · clusters).
[[nodiscard]] EpsPerCluster grown_clusters(const MapScores& scores, MapIndex cell);

/// Returns the clusters of a minpts that split no further, each at the eps before it merges with another one that
/// counts, or at the last eps. A cluster counts if its life is at least 4 times as long as chance explains, or if
/// clusters within it count. Its life begins at the smallest eps at which it has at least 30 % of the core points that
/// it has before its merge, and ends at the eps of the merge, or at the last eps. If fewer than two of the clusters
/// that merge count, one of them goes on: the one that counts, else the largest. least: clusters with fewer core points
/// are ignored. Returns nullopt if there are fewer than two clusters. O(clusters of all cells of the minpts).
[[nodiscard]] std::optional<EpsPerCluster> split_clusters(const MapScores& scores, std::size_t minpts, double least);

/// Returns the split clusters of the minpts with the largest score; if scores are equal, of the smallest minpts.
/// `least` is the smallest of MapScores::least_big() and the numbers of core points of the big clusters of `cell`, but
/// at least MapScores::kFewestPoints. Returns nullopt if no minpts has two split clusters.
[[nodiscard]] std::optional<EpsPerCluster> best_split(const MapScores& scores, MapIndex cell);

}  // namespace epsflow
