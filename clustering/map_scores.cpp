#include <epsflow/clustering/map_scores.hpp>

#include <algorithm>
#include <cmath>
#include <compare>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <tuple>

#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>

namespace epsflow {
namespace {

/// A cluster is big if it has at least this share of the points, and at least MapScores::kFewestPoints.
constexpr double kBigShare = 0.01;
/// 1/(2ν) with ν = 4/3.
constexpr double kPercolation = 0.375;
/// A cluster lives while it has at least this share of its points in this cell.
constexpr double kSamePoints = 0.5;
constexpr double kMostNoise = 0.5;
/// Noise lowers a score by less than its share: joining true noise by a larger eps must not raise it.
constexpr double kNoisePower = 0.75;
/// Among equal scores the larger minpts, which estimates density better, wins; up to √n, as clusters then blur.
constexpr double kTiePower = 0.05;
/// Scores within 15 % count as equal.
constexpr double kNear = 0.85;
/// A number of clusters is stable if it is the same over more than this factor of minpts.
constexpr double kStableRange = 2;
/// A plateau over more than this factor of eps, and the square of the best cell's factor, replaces the best.
constexpr double kFarWider = 10;
/// The score of that plateau must be at least this share of the best.
constexpr double kFarWiderScore = 0.5;
/// From this factor of eps on, a plateau's calmest eps is taken: at its upper end clusters include noise.
constexpr double kWidePlateau = 2;
/// Steps of eps to each side, in which joining points are counted.
constexpr std::size_t kCalmSteps = 2;
/// Shares of the points that differ by less count as equal: single border points must not decide.
constexpr double kFewJoin = 0.001;
/// Factors of eps are counted in steps of the grid; this covers the rounding of their logarithm.
constexpr double kSlack = 1e-6;
constexpr double kLeastScore = 0.2;
/// Without a plateau, two clusters must be significant at more than one eps, with at least this mean credit. A cluster
/// at one eps may have lived for up to two steps, and with many points one step exceeds chance.
constexpr double kLeastPlateau = 1.1;
constexpr double kLeastCredit = 0.4;
/// Ratios of minpts that suffice to estimate a slope.
constexpr double kSlopeRange = 0.6;
/// The largest deviation of a ratio of two eps, relative to its logarithm.
constexpr double kUneven = 0.1;

/// Rounds so that ties do not depend on the order of sums.
double rounded_score(double score) { return std::round(score * 1e9) / 1e9; }

/// Largest change of an eps by rounding to three digits, by logarithm: half a unit of the third digit.
double moved_by_rounding(double eps) { return 0.5 * std::pow(10, std::floor(std::log10(eps)) - 2) / eps; }

/// The contribution of a cluster to the score of its cell.
struct Weighed {
  double share = 0;
  double weight = 0;
  double credit = 0;
};

struct Axes {
  std::vector<double> eps;
  std::vector<std::uint32_t> minpts;
};

Axes axes_of(std::span<const Variant> variants) {
  std::set<double> eps;
  std::set<std::uint32_t> minpts;
  for (const Variant& variant : variants) {
    eps.insert(variant.eps);
    minpts.insert(variant.minpts);
  }
  return {{eps.begin(), eps.end()}, {minpts.begin(), minpts.end()}};
}

/// Returns the mean ratio of consecutive eps, by logarithm. Throws as require_even_grid().
double even_step(const Axes& axes, std::size_t variants) {
  const std::vector<double>& eps = axes.eps;
  if (eps.size() * axes.minpts.size() != variants) {
    throw UsageError(
        "cells are scored in a full grid, and variants are missing in this one: take every eps with every minpts");
  }
  if (eps.size() < 2) {
    throw UsageError(
        "cells are scored by how long clusters live along eps, and the grid has one eps: give eps in even ratios, as "
        "lo:hi:n:log");
  }
  const double step = std::log(eps.back() / eps.front()) / static_cast<double>(eps.size() - 1);
  for (std::size_t e = 1; e < eps.size(); ++e) {
    const double off = std::abs(std::log(eps[e] / eps[e - 1]) - step);
    if (off <= kUneven * step + moved_by_rounding(eps[e]) + moved_by_rounding(eps[e - 1])) continue;
    throw UsageError("cells are scored by lives along eps in even ratios, and from eps " + format_number(eps[e - 1]) +
                     " to " + format_number(eps[e]) +
                     " the ratio is another than the mean: give eps in even ratios, as "
                     "lo:hi:n:log");
  }
  return step;
}

}  // namespace

std::vector<double> sizes_in_any_order(std::span<const std::uint32_t> core, std::uint64_t border, double minpts) {
  constexpr double kSurface = 0.4;
  constexpr double kMostSurface = 0.6;
  constexpr double kMostBorder = 2;
  const auto lacking = [&](double points) { return std::max(0.0, minpts - points); };
  const auto surface = [&](double points) { return std::pow(points + minpts, kSurface); };
  const auto most = [&](double points) {
    return kMostBorder * minpts * std::pow(1 + points / minpts, kMostSurface) - lacking(points);
  };
  std::vector<double> sizes(core.begin(), core.end());
  // From small to large, so that sums do not depend on how clusters are numbered, and because small clusters come to
  // their limits first, and the larger ones share the rest.
  std::vector<std::size_t> ascending(core.size());
  std::iota(ascending.begin(), ascending.end(), std::size_t{0});
  std::ranges::sort(ascending, {}, [&](std::size_t k) { return core[k]; });
  double all_lacking = 0, all_surface = 0;
  for (const std::size_t k : ascending) {
    all_lacking += lacking(sizes[k]);
    all_surface += surface(sizes[k]);
  }
  const auto shared = static_cast<double>(border);
  const double around = all_lacking > shared ? shared / all_lacking : 1;
  double outside = std::max(0.0, shared - all_lacking);
  const std::vector<double> of_core = sizes;
  for (std::size_t first = 0; first < ascending.size();) {
    const double points = of_core[ascending[first]];
    std::size_t end = first;
    while (end < ascending.size() && of_core[ascending[end]] == points) ++end;
    const auto equal = static_cast<double>(end - first);
    const bool last = end == ascending.size();
    const double each = last ? outside / equal : std::min(most(points), outside * surface(points) / all_surface);
    for (; first < end; ++first) sizes[ascending[first]] += around * lacking(points) + each;
    outside = std::max(0.0, outside - equal * each);
    all_surface -= equal * surface(points);
  }
  return sizes;
}

void require_even_grid(std::span<const Variant> variants) {
  static_cast<void>(even_step(axes_of(variants), variants.size()));
}

MapScores::MapScores(const Lineage& lineage, std::size_t n, std::size_t dims, double weight)
    : lineage_(lineage), n_(static_cast<double>(n)), weight_(weight) {
  if (!lineage.has_sizes()) {
    throw UsageError(
        "scores of cells go by the points of their clusters, and the lineage has none but core points: make it with "
        "RunOptions::keep = "
        "Keep::summary");
  }
  std::vector<Variant> variants;
  variants.reserve(lineage.cells().size());
  for (const LineageCell& cell : lineage.cells()) variants.push_back(cell.variant);
  Axes axes = axes_of(variants);
  step_ = even_step(axes, variants.size());
  eps_ = std::move(axes.eps);
  minpts_ = std::move(axes.minpts);
  for (std::size_t e = 0; e < eps_.size(); ++e) {
    const std::size_t below = e > 0 ? e - 1 : 0;
    const std::size_t above = std::min(e + 1, eps_.size() - 1);
    steps_.push_back(std::log(eps_[above] / eps_[below]) / static_cast<double>(above - below));
  }
  cells_.resize(lineage.cells().size());
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    const Variant& v = lineage.cell(i).variant;
    const auto e = std::lower_bound(eps_.begin(), eps_.end(), v.eps) - eps_.begin();
    const auto m = std::lower_bound(minpts_.begin(), minpts_.end(), v.minpts) - minpts_.begin();
    cells_[static_cast<std::size_t>(e) * minpts_.size() + static_cast<std::size_t>(m)] = i;
  }
  chained_.resize(cells_.size());
  scores_.resize(cells_.size());
  sizes_.resize(cells_.size());
  find_dimensions(dims);
  for (std::size_t m = 0; m < minpts_.size(); ++m) score_minpts(m);
}

double MapScores::least_big() const noexcept { return std::max(kBigShare * n_, kFewestPoints); }

/// Estimates dimensions as the slope of ln minpts over ln eps at which half of the points are core.
void MapScores::find_dimensions(std::size_t dims) {
  const std::size_t levels = minpts_.size();
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> half(levels, kNone);  // ln eps
  std::vector<double> x(levels);
  for (std::size_t m = 0; m < levels; ++m) {
    // The median of a count of p events is about p − 4/3, the point itself not counted.
    x[m] = std::log(std::max(points_of(m) - 4.0 / 3, 1.0 / 3));
    const auto core = [&](std::size_t e) { return static_cast<double>(cell_at({e, m}).summary.core) / n_; };
    for (std::size_t e = 1; e < eps_.size(); ++e) {
      if (!(core(0) < 0.5 && core(e - 1) <= 0.5 && core(e) > 0.5)) continue;
      const double share = (0.5 - core(e - 1)) / (core(e) - core(e - 1));
      half[m] = std::log(eps_[e - 1]) + share * std::log(eps_[e] / eps_[e - 1]);
      break;
    }
  }
  dimension_.assign(levels, kNone);
  std::vector<double> known;
  for (std::size_t m = 0; m < levels; ++m) {
    std::size_t a = m > 0 ? m - 1 : 0;
    std::size_t b = std::min(levels - 1, m + 1);
    while (a > 0 && x[b] - x[a] < kSlopeRange) --a;
    while (b + 1 < levels && x[b] - x[a] < kSlopeRange) ++b;
    if (!(half[b] > half[a])) continue;
    dimension_[m] = (x[b] - x[a]) / (half[b] - half[a]);
    known.push_back(dimension_[m]);
  }
  std::sort(known.begin(), known.end());
  const auto most = static_cast<double>(dims);
  const double median = known.empty() ? most : (known[(known.size() - 1) / 2] + known[known.size() / 2]) / 2;
  for (double& d : dimension_) d = std::clamp(std::isnan(d) ? median : d, 1.0, std::max(1.0, most));
}

void MapScores::score_minpts(std::size_t minpts) {
  const double p = points_of(minpts);
  const double least = least_big();
  struct Chain {
    std::size_t first = 0;      // eps
    std::vector<double> sizes;  // along eps
  };
  std::vector<Chain> all;
  for (std::size_t e = 0; e < eps_.size(); ++e) {
    const LineageCell& here = cell_at({e, minpts});
    std::vector<double>& size = sizes_[e * minpts_.size() + minpts];
    size = sizes_in_any_order(here.core, here.summary.border, p);
    Chained& now = chained_[e * minpts_.size() + minpts];
    // A chain continues if exactly one big cluster becomes part of the cluster.
    std::map<std::uint32_t, std::vector<std::uint32_t>> arriving;
    if (e > 0) {
      const Chained& before = chained(e - 1, minpts);
      for (std::size_t k = 0; k < before.clusters.size(); ++k) {
        arriving[cell_at({e - 1, minpts}).parent_eps[before.clusters[k]]].push_back(before.chains[k]);
      }
    }
    for (std::uint32_t k = 0; k < here.clusters(); ++k) {
      if (size[k] < least) continue;
      const auto found = arriving.find(k);
      const bool goes_on = found != arriving.end() && found->second.size() == 1;
      if (!goes_on) all.push_back({e, {}});
      const auto chain = goes_on ? found->second.front() : static_cast<std::uint32_t>(all.size() - 1);
      all[chain].sizes.push_back(size[k]);
      now.clusters.push_back(k);
      now.chains.push_back(chain);
    }
  }
  const double tie = std::pow(std::min(p, std::sqrt(n_)), kTiePower);
  for (std::size_t e = 0; e < eps_.size(); ++e) {
    const Chained& now = chained(e, minpts);
    CellScore& cell = scores_[e * minpts_.size() + minpts];
    std::vector<Weighed> clusters;
    for (std::size_t k = 0; k < now.clusters.size(); ++k) {
      const double points = sizes_[e * minpts_.size() + minpts][now.clusters[k]];
      const Chain& chain = all[now.chains[k]];
      double life = 0;
      std::size_t alive = 0;
      for (std::size_t i = 0; i < chain.sizes.size(); ++i) {
        if (chain.sizes[i] < kSamePoints * points) continue;
        life += steps_[chain.first + i];
        ++alive;
      }
      const double z = dimension_[minpts] * std::sqrt(p) * life * std::pow(points / p, kPercolation);
      const double share = points / n_;
      clusters.push_back({share, share * (1 - share), z * z / (z * z + kChanceLimit * kChanceLimit)});
      cell.significant += z >= kChanceLimit ? 1 : 0;
      cell.sure += z >= kChanceLimit && alive > 1 ? 1 : 0;
    }
    // Clusters are numbered by the order of the rows, and sums depend on the order of their terms.
    std::ranges::sort(clusters, {}, [](const Weighed& cluster) { return std::pair(cluster.share, cluster.credit); });
    double shares = 0, weights = 0, credits = 0;
    for (const Weighed& cluster : clusters) {
      shares += cluster.share;
      weights += cluster.weight;
      credits += cluster.weight * cluster.credit;
    }
    cell.big = static_cast<std::uint32_t>(now.clusters.size());
    cell.noise = std::max(0.0, 1 - shares);
    if (cell.big < 2 || cell.noise > kMostNoise) continue;
    cell.credit = credits / weights;
    cell.score = rounded_score(std::pow(1 - cell.noise, kNoisePower) * tie * credits);
  }
}

std::optional<MapIndex> MapScores::best() const {
  MapIndex best;
  for (std::size_t e = 0; e < eps_.size(); ++e) {
    for (std::size_t m = 0; m < minpts_.size(); ++m) {
      if (score({e, m}).score > score(best).score) best = {e, m};
    }
  }
  if (score(best).score < 0) return std::nullopt;
  return best;
}

std::optional<MapIndex> MapScores::recommended() const {
  const std::optional<MapIndex> top = best();
  if (!top || score(*top).score <= kLeastScore) return std::nullopt;
  const Plateau around = plateau(*top);
  const bool flat = around.eps_to >= kLeastPlateau * around.eps_from;
  if (!flat && (score(*top).sure < 2 || score(*top).credit < kLeastCredit)) return std::nullopt;
  if (const std::optional<MapIndex> wider = far_wider(*top)) return calmest(*wider);
  if (around.minpts_to > kStableRange * around.minpts_from) return calmest(*top);
  MapIndex chosen = *top;
  const auto rank = [&](MapIndex at) { return std::make_tuple(score(at).significant, score(at).score); };
  for (std::size_t e = 0; e < eps_.size(); ++e) {
    for (std::size_t m = top->minpts; m < minpts_.size(); ++m) {
      const CellScore& other = score({e, m});
      if (other.score < kNear * score(*top).score || other.significant <= score(*top).significant) continue;
      if (rank({e, m}) > rank(chosen)) chosen = {e, m};
    }
  }
  return calmest(chosen);
}

std::optional<MapIndex> MapScores::far_wider(MapIndex best) const {
  const double least = std::max(kLeastScore, kFarWiderScore * score(best).score);
  const auto steps = [](Stretch along) { return along.last - along.first; };
  const double enough = std::max(std::log(kFarWider) / step_, 2 * static_cast<double>(steps(stretch(best)))) + kSlack;
  std::optional<MapIndex> widest;
  std::tuple<std::size_t, double> most;
  for (std::size_t m = 0; m < minpts_.size(); ++m) {
    for (std::size_t e = 0, next = 0; e < eps_.size(); e = next) {
      const Stretch along = stretch({e, m});
      next = along.last + 1;
      if (static_cast<double>(steps(along)) <= enough) continue;
      const MapIndex at = largest_of(along, m);
      const std::tuple rank{steps(along), score(at).score};
      if (score(at).score < least || (widest && rank <= most)) continue;
      widest = at;
      most = rank;
    }
  }
  return widest;
}

MapIndex MapScores::calmest(MapIndex at) const {
  const Stretch along = stretch(at);
  const std::size_t steps = along.last - along.first;
  if (steps < 2 * kCalmSteps || static_cast<double>(steps) * step_ < std::log(kWidePlateau) - kSlack) return at;
  std::tuple<double, std::size_t> least{std::numeric_limits<double>::infinity(), 0};
  for (std::size_t e = along.first; e <= along.last; ++e) {
    const std::size_t below = e - std::min(kCalmSteps, e - along.first);
    const std::size_t above = std::min(along.last, e + kCalmSteps);
    const double joining =
        (score({below, at.minpts}).noise - score({above, at.minpts}).noise) / static_cast<double>(above - below);
    const std::size_t ends = along.first + along.last;
    const std::tuple rank{std::max(0.0, std::round(joining / kFewJoin)), std::max(2 * e, ends) - std::min(2 * e, ends)};
    if (score({e, at.minpts}).score < 0 || rank >= least) continue;
    least = rank;
    at.eps = e;
  }
  return at;
}

std::vector<MapIndex> MapScores::peaks() const {
  std::vector<MapIndex> peaks;
  for (std::size_t e = 0; e < eps_.size(); ++e) {
    for (std::size_t m = 0; m < minpts_.size(); ++m) {
      const double here = score({e, m}).score;
      const bool rises = e == 0 || here > score({e - 1, m}).score;
      const bool falls = e + 1 == eps_.size() || here >= score({e + 1, m}).score;
      if (here > 0 && rises && falls) peaks.push_back({e, m});
    }
  }
  std::stable_sort(peaks.begin(), peaks.end(), [&](MapIndex a, MapIndex b) { return score(a).score > score(b).score; });
  std::vector<MapIndex> calm;
  for (std::size_t k = 0; k < peaks.size() && calm.size() < kCandidates; ++k) {
    const MapIndex at = calmest(peaks[k]);
    if (std::find(calm.begin(), calm.end(), at) == calm.end()) calm.push_back(at);
  }
  return calm;
}

/// Returns true if the big clusters of a minpts lie one to one in the big clusters of the next smaller one.
bool MapScores::one_to_one(std::size_t eps, std::size_t minpts) const {
  const std::vector<std::uint32_t>& from = chained(eps, minpts).clusters;
  const std::vector<std::uint32_t>& to = chained(eps, minpts - 1).clusters;
  if (from.empty() || from.size() != to.size()) return false;
  std::vector<std::uint32_t> in;
  in.reserve(from.size());
  for (const std::uint32_t k : from) in.push_back(cell_at({eps, minpts}).parent_minpts[k]);
  std::sort(in.begin(), in.end());
  return in == to;
}

MapScores::Stretch MapScores::stretch(MapIndex at) const {
  const auto chains = [&](std::size_t e) {
    std::vector<std::uint32_t> sorted = chained(e, at.minpts).chains;
    std::sort(sorted.begin(), sorted.end());
    return sorted;
  };
  const std::vector<std::uint32_t> here = chains(at.eps);
  Stretch along{at.eps, at.eps};
  while (along.first > 0 && chains(along.first - 1) == here) --along.first;
  while (along.last + 1 < eps_.size() && chains(along.last + 1) == here) ++along.last;
  return along;
}

MapIndex MapScores::largest_of(Stretch along, std::size_t minpts) const {
  MapIndex largest{along.first, minpts};
  for (std::size_t e = along.first; e <= along.last; ++e) {
    if (score({e, minpts}).score > score(largest).score) largest.eps = e;
  }
  return largest;
}

double MapScores::plateau_score(MapIndex at) const { return score(largest_of(stretch(at), at.minpts)).score; }

Plateau MapScores::plateau(MapIndex at) const {
  const Stretch along = stretch(at);
  std::size_t low = at.minpts, high = at.minpts;
  while (low > 0 && one_to_one(at.eps, low)) --low;
  while (high + 1 < minpts_.size() && one_to_one(at.eps, high + 1)) ++high;
  return {eps_[along.first], eps_[along.last], minpts_[low], minpts_[high]};
}

}  // namespace epsflow
