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
  no_clusters,  ///< there are probably no clusters: no cell shows more than chance explains
  weak,         ///< the clusters are hardly more than chance explains
  little_core,  ///< almost no point is core, in every cell
  all_core,     ///< almost every point is core, in every cell
  one_cluster,  ///< all points are one cluster, in every cell that has core points
  no_plateau,   ///< the answer depends strongly on eps
  much_noise,   ///< much noise in the recommended cell, with points of small clusters counted as noise
  two_scales,   ///< an alternative scores nearly as much
  edge,         ///< the recommended cell is at the edge of the grid and shows other clusters than cells farther inside
  few_points,
  duplicates,      ///< many points have the same coordinates as another
  quantised,       ///< coordinates lie on a lattice, and eps is below four of its steps: a small change may change much
  one_axis_rules,  ///< one coordinate has nearly all variance; the others together vary less than the smallest good eps
  coarse,          ///< time was short: fewer eps were swept than the grid has
  unfinished,      ///< time was short: not all alternatives and doubts were looked for
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

/// A cell that is offered to the user, with its labels.
struct Offer {
  std::size_t cell = 0;  ///< index of the cell in Exploration::map
  Variant variant;
  LabelSummary summary;
  Labels labels;                   ///< [n] in input order
  std::vector<std::uint8_t> core;  ///< [n] nonzero for core points
  double seconds = 0;              ///< time of the run that made the labels
  double score = 0;  ///< the largest score of the cells around it that show the same clusters, to four decimals
  double noise = 0;  ///< share of the points that are in no big cluster
  Plateau plateau;
  double confidence = 0;  ///< expected adjusted Rand index with the truth: 0.1 to 0.97
  std::string reason;     ///< a sentence
};

struct Exploration {
  std::optional<Offer> recommended;  ///< empty if no structure was found
  std::vector<Offer> alternatives;   ///< at other scales, at most two, the better first
  std::vector<Doubt> doubts;
  std::vector<double> eps;            ///< of the grid, ascending
  std::vector<std::uint32_t> minpts;  ///< of the grid, ascending
  std::vector<CellScore> scores;      ///< [eps × minpts] to four decimals
  Lineage map;                        ///< map of the grid; its cells are in the order of grid(eps, minpts)
};

/// Returns a grid that shows at which eps and minpts the points form clusters, if they do. It has up to 10 minpts in
/// even ratios, from 3 to a twentieth of the points, at most 200; and about 40 eps of three significant digits in
/// nearly even ratios (round_grid()), from the eps at which 2 % of the points are core at the smallest minpts to the
/// eps at which 98 % are one cluster at the largest. Returns no variants for fewer than 10 points or if all points are
/// equal. If points have weights, minpts counts in units of their mean weight. Time: one search for k-distances and
/// some 15 variants. Throws as run() does; UsageError also for weights below 0, for weights whose mean gives no whole
/// minpts, and for coordinates so far apart or so close together that squares of their distances leave the range of
/// float64.
[[nodiscard]] Sweep suggest(const Dataset& data, const RunOptions& options = {}, const Observer& observer = {});

/// Sweeps the suggested grid, scores its cells (clustering/map_scores.hpp), and labels the cells that it offers. The
/// result depends only on the set of points, their weights and the metric, not on the order of the rows, except for
/// labels of border points and numbers of clusters. Of the options it uses those that change the time. Time: suggest(),
/// lineage(), and up to 21 variants. Throws as run() does.
///
/// seconds: a bound on the time, above 0. About every 4th eps is then swept first, and the eps between them as long as
/// they are expected to fit into the time that is left. The result is the result for a grid of the swept eps alone;
/// with enough time it is the result without a bound. Doubt::coarse and Doubt::unfinished report omissions. A batch and
/// the labels of the recommended cell may exceed the bound. Memory: 4·n bytes more for each eps. Throws UsageError also
/// if the time is over before the first eps are swept.
[[nodiscard]] Exploration explore(const Dataset& data, const RunOptions& options = {}, const Observer& observer = {},
                                  std::optional<double> seconds = std::nullopt);
/// Explores a given grid. Throws UsageError also if it is not a full grid, has only one eps, or its eps are not in even
/// ratios, before anything is computed.
[[nodiscard]] Exploration explore(const Dataset& data, const Sweep& sweep, const RunOptions& options = {},
                                  const Observer& observer = {}, std::optional<double> seconds = std::nullopt);

}  // namespace epsflow
