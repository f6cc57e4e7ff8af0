// Which cells of a (eps, minpts) grid show clusters: by how long these live along eps, in units of what chance explains.
//
// A cluster of m points at a minpts of p lives while its eps grows by the factor exp(life). A count of p has a deviation of √p, and the
// density of a set of dimension D goes with D · d ln eps, so by chance alone a density contrast lives for about 1/(D·√p). A fragment of
// m/p independent patches lives through a window that shrinks like (m/p)^(−1/(2ν)), the finite-size scaling of percolation with ν = 4/3.
// So the life in units of chance is
//
//   Z = D · √p · life · (m/p)^(3/8)
//
// Over sets of up to 5,000 points without clusters its distribution is about the same for every n, p and m: 99 % of such Z are below
// kChanceLimit. A cluster's credit is Z²/(Z² + kChanceLimit²); a cell scores by the credits of its clusters, weighted by
// share · (1 − share) of the points.
// docs/choosing.md has where each constant comes from, and what the rule finds on which data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <epsflow/clustering/lineage.hpp>

namespace epsflow {

/// Place of a cell in a full grid: which eps and which minpts, both ascending from 0.
struct GridPlace {
  std::size_t eps = 0;
  std::size_t minpts = 0;

  friend bool operator==(const GridPlace&, const GridPlace&) = default;
};

struct CellScore {
  double score = -1;              ///< -1 where fewer than two big clusters, or too much noise, leave nothing to score
  double credit = 0;              ///< mean credit of the big clusters, from 0 to 1
  double noise = 1;               ///< share of the points that are in no big cluster
  std::uint32_t significant = 0;  ///< big clusters that live longer than chance explains
  std::uint32_t sure = 0;         ///< significant ones that are seen at more than one eps
  std::uint32_t big = 0;          ///< clusters of at least 1 % of the points, and five
};

/// What stays the same around a cell.
struct Plateau {
  double eps_from = 0;  ///< the same big clusters at its minpts
  double eps_to = 0;
  std::uint32_t minpts_from = 0;  ///< big clusters that lie in each other one to one, at its eps
  std::uint32_t minpts_to = 0;
};

/// Throws UsageError where the variants are no full grid of at least two eps in even ratios, by which lives are counted. Ratios may be off
/// by a tenth of their logarithm, and by as much as rounding both eps to three significant digits moves them. O(variants · log).
void require_even_grid(std::span<const Variant> variants);

/// [clusters] The points of each cluster of a cell, as far as they do not depend on the order of the rows. Which cluster a
/// border point between two is in does, and what is recommended must not. So border points are shared out: a cluster has at
/// least minpts points, those around a core point. The others lie on the surfaces of clusters, and are shared in proportion
/// to (core points + minpts)^0.4. Over the maps of the sets of docs/choosing.md these sizes are 9 % off the counts in the
/// mean. border: of all clusters. minpts: as a number of points.
[[nodiscard]] std::vector<double> sizes_in_any_order(std::span<const std::uint32_t> core, std::uint64_t border,
                                                     double minpts);

/// Scores of all cells of a full grid of at least two eps in even ratios.
class MapScores {
 public:
  /// n: points that have labels. dims: of the points. weight: the mean weight of a point, of which minpts is a multiple. The lineage must
  /// outlive it. O(clusters of all cells). Throws as require_even_grid() does, and UsageError for a
  /// lineage without sizes.
  MapScores(const Lineage& lineage, std::size_t n, std::size_t dims, double weight = 1);

  [[nodiscard]] std::span<const double> eps() const noexcept { return eps_; }
  [[nodiscard]] std::span<const std::uint32_t> minpts() const noexcept { return minpts_; }
  [[nodiscard]] std::size_t cell(GridPlace place) const noexcept {
    return cells_[place.eps * minpts_.size() + place.minpts];
  }
  [[nodiscard]] const CellScore& score(GridPlace place) const noexcept {
    return scores_[place.eps * minpts_.size() + place.minpts];
  }
  /// The cell of the largest score; of equal ones that of the smallest eps, then minpts. Nothing where no cell has a score.
  [[nodiscard]] std::optional<GridPlace> best() const;
  /// The cell to recommend: the best, or one of a far wider plateau, or, where the best is sure of its number of clusters over hardly
  /// any range of minpts, one of nearly the same score that has more significant clusters; and of a wide plateau its calmest eps.
  /// Nothing where no cell shows more than chance explains.
  [[nodiscard]] std::optional<GridPlace> recommended() const;
  /// Local maxima of the score along eps, the largest scores first, in wide plateaus their calmest eps instead, at most kCandidates: what may
  /// be offered beside the recommended.
  [[nodiscard]] std::vector<GridPlace> peaks() const;
  [[nodiscard]] Plateau plateau(GridPlace place) const;
  /// The largest score of the cells around it that show the same clusters.
  [[nodiscard]] double plateau_score(GridPlace place) const;
  /// Effective dimension at a minpts.
  [[nodiscard]] double dimension(std::size_t minpts) const noexcept { return dimension_[minpts]; }

  static constexpr double kChanceLimit = 5;
  static constexpr std::size_t kCandidates = 20;

 private:
  /// The big clusters of a cell, and for each the chain of clusters along eps that it goes on.
  struct Chained {
    std::vector<std::uint32_t> clusters;
    std::vector<std::uint32_t> chains;
  };

  [[nodiscard]] const LineageCell& at(std::size_t eps, std::size_t minpts) const {
    return lineage_.cell(cell({eps, minpts}));
  }
  [[nodiscard]] const Chained& chained(std::size_t eps, std::size_t minpts) const noexcept {
    return chained_[eps * minpts_.size() + minpts];
  }
  void find_dimensions(std::size_t dims);
  void score_minpts(std::size_t minpts);
  /// A minpts as a number of points.
  [[nodiscard]] double points_of(std::size_t minpts) const noexcept { return minpts_[minpts] / weight_; }
  [[nodiscard]] bool one_to_one(std::size_t eps, std::size_t minpts) const;
  /// Along eps around a cell, where the big clusters are the same: from the first to the last.
  struct Stretch {
    std::size_t first = 0;
    std::size_t last = 0;
  };
  [[nodiscard]] Stretch stretch(GridPlace place) const;
  /// Of cells of a stretch, of which some may have no score.
  [[nodiscard]] GridPlace largest_of(Stretch along, std::size_t minpts) const;
  /// The cell of the largest score of a plateau far wider than that of the best, if there is one that scores half as much.
  [[nodiscard]] std::optional<GridPlace> far_wider(GridPlace best) const;
  /// The cell of the same plateau around which the fewest points join clusters, of equal ones that nearest to its middle; the cell itself
  /// where the plateau is narrow.
  [[nodiscard]] GridPlace calmest(GridPlace place) const;

  const Lineage& lineage_;
  double n_;
  double weight_;
  double step_ = 0;            ///< from one eps to the next, by logarithm, in the mean
  std::vector<double> steps_;  ///< [eps] half of the way to both neighbours, by logarithm; to the only one at an end
  std::vector<double> eps_;
  std::vector<std::uint32_t> minpts_;
  std::vector<std::size_t> cells_;          ///< [eps × minpts]
  std::vector<Chained> chained_;            ///< [eps × minpts]
  std::vector<std::vector<double>> sizes_;  ///< [eps × minpts] sizes_in_any_order() of the cell
  std::vector<CellScore> scores_;           ///< [eps × minpts]
  std::vector<double> dimension_;           ///< [minpts]
};

}  // namespace epsflow
