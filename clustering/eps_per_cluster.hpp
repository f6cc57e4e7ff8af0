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
  /// D is the effective dimension, and eps the first one at which the cluster has 30 % of its core points. Empty for
  /// grown clusters.
  std::vector<double> log_density;
  double score = 0;  ///< can be compared with CellScore::score
  double noise = 1;  ///< share of the points that are in none of them

  /// Returns the different eps of the clusters, as ascending indices.
  [[nodiscard]] std::vector<std::size_t> all_eps() const;
};

/// Returns the clusters of a cell after each has grown from eps to eps. A cluster stops before the eps at which it
/// would merge with another cluster of the cell, or with one that is big at the eps before. No eps is more than 1.5
/// times the one of the cell. If more than 15 % of the points are noise in the cell, no cluster grows, because it
/// would take in true noise. score and noise are the cell's. O(eps · clusters).
[[nodiscard]] EpsPerCluster grown_clusters(const MapScores& scores, MapIndex cell);

/// Returns the clusters of a minpts that split no further, each at the eps before it merges with another one that
/// counts, or at the last eps. A cluster counts if its life is longer than chance explains, or if clusters within it
/// count. Its life begins at the first eps at which it has 30 % of its last core points, and ends at its merge. If
/// fewer than two of the clusters that merge count, one of them goes on: the one that counts, else the largest. least:
/// clusters with fewer core points are ignored. Returns nullopt if there are fewer than two clusters. O(clusters of all
/// cells of the minpts).
[[nodiscard]] std::optional<EpsPerCluster> split_clusters(const MapScores& scores, std::size_t minpts, double least);

/// Returns the split clusters of the minpts with the largest score, among equal ones the smallest. cell: the cell
/// that they are compared with, whose smallest big cluster may lower `least` below 1 % of the points. Returns nullopt
/// if no minpts has two.
[[nodiscard]] std::optional<EpsPerCluster> best_split(const MapScores& scores, MapIndex cell);

}  // namespace epsflow
