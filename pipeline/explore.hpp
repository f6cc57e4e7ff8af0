// From points to a recommendation: which cells of a grid of (eps, minpts) show clusters, without being told eps or minpts.
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

/// What is to be doubted of an exploration.
enum class Doubt : std::uint8_t {
  no_clusters,  ///< probably no clusters at all: no cell shows more than chance explains
  weak,         ///< hardly more than chance explains
  little_core,  ///< almost nothing is core, in every cell
  all_core,     ///< almost all is core, in every cell
  one_cluster,  ///< all is one cluster, in every cell where points are core
  no_plateau,   ///< the answer hangs on eps
  much_noise,   ///< of the recommended cell, small clusters included
  two_scales,   ///< an alternative scores nearly as much
  edge,         ///< the recommended cell lies at the edge of the grid, and shows other clusters than cells farther in
  few_points,
  duplicates,  ///< many points share all coordinates with another
  quantised,  ///< coordinates lie on a lattice, and eps is less than four steps of it: a little more or less may change much
  one_axis_rules,  ///< one coordinate has nearly all of the variance, and the others together vary by less than the eps that shows the clusters first
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
/// A doubt in a sentence, with what may be done.
[[nodiscard]] std::string sentence_of(Doubt doubt);

/// A cell with its labels, as it is offered.
struct Offer {
  std::size_t cell = 0;  ///< of Exploration::map
  Variant variant;
  LabelSummary summary;
  Labels labels;                   ///< [n] in input order
  std::vector<std::uint8_t> core;  ///< [n] other than 0 for core points
  double seconds = 0;              ///< that its labels took
  double score = 0;                ///< the largest of the cells around it that show the same clusters, to four decimals
  double noise = 0;                ///< share of the points that are in no big cluster
  Plateau plateau;
  double confidence =
      0;  ///< the adjusted Rand index to be expected with what is true, from 0.1 to 0.97, by how such recommendations fared
  std::string reason;  ///< in a sentence
};

struct Exploration {
  std::optional<Offer> recommended;  ///< nothing where there is no structure
  std::vector<Offer> alternatives;   ///< at other scales, at most two, the better first
  std::vector<Doubt> doubts;
  std::vector<double> eps;            ///< of the grid, ascending
  std::vector<std::uint32_t> minpts;  ///< of the grid, ascending
  std::vector<CellScore> scores;      ///< [eps × minpts] to four decimals
  Lineage map;                        ///< of the grid; its cells are in the order of grid(eps, minpts)
};

/// A grid that shows at which eps and minpts the points fall into clusters, if they do: up to 10 minpts in even ratios from 3 to a
/// twentieth of the points, at most 200, and about 40 eps of three significant digits in nearly even ratios (round_grid()), from where 2 %
/// of the points are core at the smallest minpts to where 98 % are one cluster at the largest. No variants for fewer than 10 points, and where all are equal. Time: that of a search for
/// k-distances and some 15 variants. Of points with weights, minpts counts in units of their mean weight. Throws as run() does;
/// UsageError also for weights below 0, for weights whose mean makes no whole minpts, and for coordinates so far apart, or so close
/// together, that squares of their distances leave the range of float64.
[[nodiscard]] Sweep suggest(const Dataset& data, const RunOptions& options = {}, const Observer& observer = {});

/// Sweeps the suggested grid, scores its cells (clustering/map_scores.hpp), and labels those that it offers. A function of the set of
/// points, their weights and the metric alone, whatever the order of the rows, but for the labels of border points and the numbers of
/// clusters; of the options it takes those that change the time. Time: that of suggest(), of lineage(), and of
/// up to 21 variants. Throws as run() does.
///
/// seconds: a bound on the time, above 0. Then every 4th eps or so is swept first, and those between them as long as they are expected to
/// take no more than the time that is left. What is found is that of the eps swept, the same as of a grid of these alone; it is that
/// without a bound if there is time for all. Doubt::coarse and Doubt::unfinished tell what was left out. The bound is kept but for a
/// batch, and for the labels of the recommended cell. Memory: 4·n bytes more for each eps. Throws UsageError, too, if the time is
/// over before the first eps are swept.
[[nodiscard]] Exploration explore(const Dataset& data, const RunOptions& options = {}, const Observer& observer = {},
                                  std::optional<double> seconds = std::nullopt);
/// The same of a grid that one has. Throws UsageError also where it is no full grid, has one eps alone, or its eps are not in even ratios:
/// before anything is computed.
[[nodiscard]] Exploration explore(const Dataset& data, const Sweep& sweep, const RunOptions& options = {},
                                  const Observer& observer = {}, std::optional<double> seconds = std::nullopt);

}  // namespace epsflow
