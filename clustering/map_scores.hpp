// Finds the cells of an (eps, minpts) grid that show clusters, by the persistence of clusters along eps, in units of
// the persistence that chance explains.
//
// A cluster of m points at a minpts of p has at least m/2 points while eps grows by the factor exp(life). A count of p
// has a standard deviation of √p, and the density of a set of dimension D changes with D · d ln eps, so by chance alone
// a density contrast lives for about 1/(D·√p). A fragment of m/p independent patches lives through a window that
// shrinks like (m/p)^(−1/(2ν)), the finite-size scaling of percolation with ν = 4/3. So the life in units of chance is
//
//   Z = D · √p · life · (m/p)^(3/8)
//
// Over sets of up to 5,000 points without clusters the distribution of Z is about the same for every n, p and m: 99 %
// of the values are below kChanceLimit. A cluster's credit is Z²/(Z² + kChanceLimit²). The score of a cell is the sum
// of the credits of its big clusters, weighted by share · (1 − share) of the points; noise lowers it, and a larger
// minpts raises it a little. docs/choosing.md gives the source of each constant and the results on many data sets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <epsflow/clustering/lineage.hpp>

namespace epsflow {

/// A cell of a full grid, by the indices of its eps and its minpts. Both ascend, from index 0.
struct MapIndex {
  std::size_t eps = 0;
  std::size_t minpts = 0;

  friend bool operator==(const MapIndex&, const MapIndex&) = default;
};

struct CellScore {
  double score = -1;              ///< -1 if there are fewer than two big clusters, or `noise` is above 0.5
  double credit = 0;              ///< weighted mean credit of the big clusters, from 0 to 1; 0 if the score is -1
  double noise = 1;               ///< share of the points that are in no big cluster
  std::uint32_t significant = 0;  ///< big clusters that live longer than chance explains
  std::uint32_t sure = 0;         ///< significant clusters that appear at more than one eps
  std::uint32_t big = 0;          ///< clusters of at least 1 % of the points, and at least five points
};

/// The ranges around a cell in which the clusters stay the same.
struct Plateau {
  /// The first and the last eps, at the minpts of the cell, with the same big clusters.
  double eps_from = 0;
  double eps_to = 0;
  /// The first and the last minpts, at the eps of the cell, between which the big clusters correspond one to one.
  std::uint32_t minpts_from = 0;
  std::uint32_t minpts_to = 0;
};

/// Throws UsageError if the variants are not a full grid of at least two eps in even ratios. (Lives are measured in
/// steps of the grid.) The logarithm of a ratio may differ from the mean logarithm by a tenth of it, and in addition by
/// the rounding of both eps to three digits. O(variants · log variants).
void require_even_grid(std::span<const Variant> variants);

/// Returns [clusters] an estimate of the number of points of each cluster of a cell that does not depend on the order
/// of the rows. The true numbers depend on it, because a border point between two clusters belongs to the one with the
/// lower number. So the border points are distributed: first, each cluster is filled up to minpts points, as far as the
/// border points suffice, because a core point has that many around it. The other border points lie on the surfaces of
/// clusters, and are divided in proportion to (core points + minpts)^0.4. But each cluster gets at most 2·minpts·(1 +
/// core points/minpts)^0.6 border points in all; about one in a hundred clusters of any size has more. The largest
/// clusters share the rest. Without this bound, one core point beside a large cluster would count as thousands of
/// points. core: [clusters] numbers of core points. border: the number of border points of all clusters. minpts: as a
/// number of points.
[[nodiscard]] std::vector<double> sizes_in_any_order(std::span<const std::uint32_t> core, std::uint64_t border,
                                                     double minpts);

/// Scores of all cells of a full grid of at least two eps in even ratios.
class MapScores {
 public:
  /// n: points that have labels. dims: dimensions of the points. weight: the mean weight of a point, which converts
  /// minpts to a number of points. The lineage must outlive it. O(clusters of all cells). Throws as
  /// require_even_grid(), and UsageError for a lineage without sizes.
  MapScores(const Lineage& lineage, std::size_t n, std::size_t dims, double weight = 1);

  [[nodiscard]] std::span<const double> eps() const noexcept { return eps_; }
  [[nodiscard]] std::span<const std::uint32_t> minpts() const noexcept { return minpts_; }
  /// Returns the index of a cell in the lineage.
  [[nodiscard]] std::size_t cell(MapIndex at) const noexcept { return cells_[at.eps * minpts_.size() + at.minpts]; }
  [[nodiscard]] const CellScore& score(MapIndex at) const noexcept {
    return scores_[at.eps * minpts_.size() + at.minpts];
  }
  [[nodiscard]] const LineageCell& cell_at(MapIndex at) const noexcept { return lineage_.cell(cell(at)); }
  /// Returns [clusters] the numbers of points of the clusters of a cell, as sizes_in_any_order() estimates them.
  [[nodiscard]] std::span<const double> sizes(MapIndex at) const noexcept {
    return sizes_[at.eps * minpts_.size() + at.minpts];
  }
  /// Returns the big clusters of a cell, ascending.
  [[nodiscard]] std::span<const std::uint32_t> big_clusters(MapIndex at) const noexcept {
    return chained(at.eps, at.minpts).clusters;
  }
  /// Returns the number of points from which a cluster is big.
  [[nodiscard]] double least_big() const noexcept;
  [[nodiscard]] double points() const noexcept { return n_; }
  /// Returns a minpts, given by its index, as a number of points.
  [[nodiscard]] double points_of(std::size_t minpts) const noexcept { return minpts_[minpts] / weight_; }
  /// Returns the cell of the largest score; among equal ones the smallest eps, then minpts. nullopt if no cell has a
  /// score.
  [[nodiscard]] std::optional<MapIndex> best() const;
  /// Returns the recommended cell, or nullopt if there is no best() or it shows no more than chance explains. It is the
  /// best cell of a far wider plateau if there is one: over more than a factor of 10 in eps, more than twice as wide,
  /// with at least half of the score. Otherwise it is best(). But if the big clusters of best() stay the same over at
  /// most a factor of 2 in minpts, it is the cell with the most significant clusters among the cells of nearly the same
  /// score and no smaller minpts. If the plateau of the cell is wide, its calmest eps is taken, around which the fewest
  /// points join clusters.
  [[nodiscard]] std::optional<MapIndex> recommended() const;
  /// Returns cells to choose from, recommended() possibly among them: at most kCandidates local maxima of the score
  /// along eps, the largest scores first. A maximum in a wide plateau is replaced by the calmest eps of the plateau.
  [[nodiscard]] std::vector<MapIndex> peaks() const;
  /// Returns the plateau around a cell.
  [[nodiscard]] Plateau plateau(MapIndex at) const;
  /// Returns the largest score along eps of the cells, the given one included, that show the same big clusters.
  [[nodiscard]] double plateau_score(MapIndex at) const;
  /// Returns the effective dimension of the points at a minpts. minpts: its index.
  [[nodiscard]] double dimension(std::size_t minpts) const noexcept { return dimension_[minpts]; }

  static constexpr double kChanceLimit = 5;
  static constexpr double kFewestPoints = 5;  ///< of a big cluster
  static constexpr std::size_t kCandidates = 20;

 private:
  /// The big clusters of a cell, and for each the chain of clusters along eps that it continues.
  struct Chained {
    std::vector<std::uint32_t> clusters;
    std::vector<std::uint32_t> chains;
  };

  [[nodiscard]] const Chained& chained(std::size_t eps, std::size_t minpts) const noexcept {
    return chained_[eps * minpts_.size() + minpts];
  }
  void find_dimensions(std::size_t dims);
  void score_minpts(std::size_t minpts);
  [[nodiscard]] bool one_to_one(std::size_t eps, std::size_t minpts) const;
  /// The range along eps around a cell in which the big clusters are the same, both ends included.
  struct Stretch {
    std::size_t first = 0;
    std::size_t last = 0;
  };
  [[nodiscard]] Stretch stretch(MapIndex at) const;
  /// Returns the cell of the largest score in a stretch, in which some cells may have no score.
  [[nodiscard]] MapIndex largest_of(Stretch along, std::size_t minpts) const;
  /// Returns the best cell of a far wider plateau than the best cell's, if it has at least half of its score.
  [[nodiscard]] std::optional<MapIndex> far_wider(MapIndex best) const;
  /// Returns the cell of the same plateau around which the fewest points join clusters, among equal ones the nearest to
  /// its middle; returns the cell itself if the plateau is narrow.
  [[nodiscard]] MapIndex calmest(MapIndex at) const;

  const Lineage& lineage_;
  double n_;
  double weight_;
  double step_ = 0;            ///< mean step from one eps to the next, by logarithm
  std::vector<double> steps_;  ///< [eps] half of the log step between both neighbours; at an end the only log step
  std::vector<double> eps_;
  std::vector<std::uint32_t> minpts_;
  std::vector<std::size_t> cells_;          ///< [eps × minpts]
  std::vector<Chained> chained_;            ///< [eps × minpts]
  std::vector<std::vector<double>> sizes_;  ///< [eps × minpts] sizes_in_any_order() of the cell
  std::vector<CellScore> scores_;           ///< [eps × minpts]
  std::vector<double> dimension_;           ///< [minpts]
};

}  // namespace epsflow
