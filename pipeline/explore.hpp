// Exploration finds the cells of a grid of (eps, minpts) that show clusters; the caller gives neither eps nor minpts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <epsflow/clustering/lineage.hpp>
#include <epsflow/clustering/map_scores.hpp>
#include <epsflow/core/labels.hpp>
#include <epsflow/core/sweep.hpp>
#include <epsflow/pipeline/engine.hpp>
#include <epsflow/pipeline/options.hpp>

namespace epsflow {

/// A reason to doubt the result of an exploration.
enum class Doubt : std::uint8_t {
  no_clusters,  ///< there are probably no clusters: in no cell do clusters persist longer than chance explains
  weak,         ///< the clusters persist hardly longer than chance explains
  little_core,  ///< in every cell, almost no point is core
  all_core,     ///< in every cell, almost every point is core
  one_cluster,  ///< in every cell that has more than a few core points, almost all points are one cluster
  no_plateau,   ///< the clusters of the recommended cell change with a small change of eps
  much_noise,   ///< many points are noise, or in clusters that are not big, in the recommended offer
  two_scales,   ///< an alternative that is a cell scores nearly as much as the recommended cell
  /// The recommended cell is at the first or last eps of the grid; or at its first or last minpts, and the clusters
  /// differ at the next minpts.
  edge,
  few_points,      ///< there are fewer than 100 points
  duplicates,      ///< many points have the same coordinates as another point
  quantised,       ///< the values of a coordinate lie on a lattice, and eps is below four of its steps
  one_axis_rules,  ///< one coordinate has nearly all variance; the others hardly affect which points are within eps
  coarse,          ///< time was short: fewer eps were swept than the grid has
  unfinished,      ///< time was short: not all alternatives and doubts were examined
};
template <>
struct Choice<Doubt> {
  static constexpr std::string_view kType = "Doubt";
  static constexpr std::array kWords{Word{"no-clusters", Doubt::no_clusters},
                                     Word{"weak", Doubt::weak},
                                     Word{"little-core", Doubt::little_core},
                                     Word{"all-core", Doubt::all_core},
                                     Word{"one-cluster", Doubt::one_cluster},
                                     Word{"no-plateau", Doubt::no_plateau},
                                     Word{"much-noise", Doubt::much_noise},
                                     Word{"two-scales", Doubt::two_scales},
                                     Word{"edge", Doubt::edge},
                                     Word{"few-points", Doubt::few_points},
                                     Word{"duplicates", Doubt::duplicates},
                                     Word{"quantised", Doubt::quantised},
                                     Word{"one-axis-rules", Doubt::one_axis_rules},
                                     Word{"coarse", Doubt::coarse},
                                     Word{"unfinished", Doubt::unfinished}};
};
/// Returns the doubt as a sentence with a remedy.
[[nodiscard]] std::string sentence_of(Doubt doubt);

/// A clustering that is offered to the user: a cell of the grid, which is DBSCAN at one (eps, minpts), with the labels
/// of a run; or clusters of one minpts that have an eps each, either grown from a cell or split clusters
/// (clustering/eps_per_cluster.hpp). No single run of DBSCAN has these, unless all eps are equal.
struct Offer {
  Variant variant;                  ///< minpts, and the one eps; 0 if clusters have several eps
  std::optional<std::size_t> cell;  ///< index in Exploration::map; empty if clusters have an eps each
  /// [clusters] the eps of each cluster: its core points are connected at this eps, and each of its border points lies
  /// within this eps of one of them. A border point of several clusters belongs to the one of the nearest core point.
  /// Empty for a cell.
  std::vector<double> eps_of_clusters;
  LabelSummary summary;
  Labels labels;                   ///< [n] in input order
  std::vector<std::uint8_t> core;  ///< [n] nonzero for core points, each at the eps of its cluster
  double seconds = 0;              ///< time of the runs that made the labels
  /// Of a cell: the largest score along eps of the cells, this one included, that show the same clusters. Of clusters
  /// grown from a cell: the score of the cell's offer. Of split clusters: EpsPerCluster::score. Four decimals.
  double score = 0;
  /// Share of the points that are in no big cluster (CellScore::big) of the cell, estimated. Of split clusters: share
  /// of the points that are noise.
  double noise = 0;
  /// The ranges of eps and minpts in which the clusters stay the same. Of clusters that have an eps each: the range of
  /// their eps, and their one minpts.
  Plateau plateau;
  double confidence = 0;  ///< expected adjusted Rand index with the truth: 0.45 to 0.97
  std::string reason;     ///< a sentence
};

struct Exploration {
  /// The clusters of the recommended cell (MapScores::recommended()), each grown to the widest eps at which it is
  /// alone, or clusters that split these if that is better; the cell itself if time is short. Empty if no structure
  /// was found.
  std::optional<Offer> recommended;
  /// At most two offers with other clusters: first clusters that have an eps each, then cells by descending score.
  std::vector<Offer> alternatives;
  std::optional<Offer> one_eps;  ///< the recommended cell: DBSCAN at one (eps, minpts). Empty if no structure was found
  std::vector<Doubt> doubts;
  std::vector<double> eps;            ///< the eps that were swept, ascending
  std::vector<std::uint32_t> minpts;  ///< the minpts of the grid, ascending
  std::vector<CellScore> scores;      ///< [eps × minpts] CellScore::score has four decimals
  /// The lineage of the grid. Its cells are in the order of the sweep; with a bound on the time, in the order of
  /// grid(eps, minpts).
  Lineage map;
};

/// Returns a grid that shows at which eps and minpts the points form clusters, if they do. It has up to 10 minpts in
/// even ratios, from 3 to a twentieth of the points, at most 200; for few points the largest minpts is larger than
/// that. It has about 40 eps of three significant digits in nearly even ratios (round_grid()). They range from the eps
/// at which about 2 % of the points are core at the smallest minpts to an eps at which 98 % of the points are one
/// cluster at the largest minpts. Returns no variants for fewer than 10 points, and if every point is at distance 0
/// from at least two others. If points have weights, each minpts is multiplied by their mean weight and rounded. Time:
/// one search for k-distances and some 15 variants. Throws as run() does. Throws UsageError also for slices, for
/// weights below 0, for a mean weight below one half or so large that minpts exceeds its range, and for points so far
/// apart or so close together that squares of their distances leave the range of float64.
[[nodiscard]] Sweep suggest(const Dataset& data, const RunOptions& options = {}, const Observer& observer = {});

/// Sweeps the suggested grid, scores its cells (clustering/map_scores.hpp), and labels the clusterings that it offers.
/// The result depends only on the set of points, their weights and the metric, not on the order of the rows, except for
/// labels of border points and numbers of clusters. Of the options it uses those that change the time. Time: suggest(),
/// lineage(), up to 21 variants, and one for each eps of the grown and of the split clusters. Throws as run() does.
///
/// seconds: a bound on the time, above 0. At least 10 eps are then swept first, or all if there are fewer: about every
/// 4th of a suggested grid. The eps between them follow, in rounds, while the next round is expected to fit into the
/// remaining time. The result is the one for a grid of the swept eps alone; with enough time it equals the result
/// without a bound. Doubt::coarse and Doubt::unfinished report omissions. A batch and the labels of the recommended
/// cell may exceed the bound. Memory: 4·n bytes more for each eps. Throws UsageError also if the time is over before
/// the first eps are swept.
[[nodiscard]] Exploration explore(const Dataset& data, const RunOptions& options = {}, const Observer& observer = {},
                                  std::optional<double> seconds = std::nullopt);
/// Explores a given grid. Throws UsageError also if it is not a full grid, has only one eps, or its eps are not in even
/// ratios, before anything is computed.
[[nodiscard]] Exploration explore(const Dataset& data, const Sweep& sweep, const RunOptions& options = {},
                                  const Observer& observer = {}, std::optional<double> seconds = std::nullopt);

}  // namespace epsflow
