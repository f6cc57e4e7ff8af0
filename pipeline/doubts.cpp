#include <epsflow/pipeline/doubts.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include <epsflow/core/parallel.hpp>
#include <epsflow/core/scatter.hpp>

namespace epsflow {
namespace {

constexpr double kWeakScore = 0.3;
constexpr double kWeakCredit = 0.5;
constexpr double kLittleCore = 0.05;
constexpr double kAllCore = 0.95;
constexpr double kOneCluster = 0.98;
constexpr double kPlateau = 1.1;
constexpr double kNearlyAsGood = 0.9;
constexpr double kManyDuplicates = 0.05;
/// Approximate number of points in the sample that coordinates are judged by.
constexpr std::size_t kSample = 100'000;
constexpr double kEvenGaps = 0.95;
constexpr double kGapError = 1e-3;
constexpr double kStepsOfEps = 4;
constexpr double kAxisRules = 0.95;

/// Returns [n] a hash of the coordinates of each point.
std::vector<std::uint64_t> hashes_of(PointsView points) {
  std::vector<std::uint64_t> hashes(points.size());
  parallel_ranges(points.size(), 1 << 14, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      std::uint64_t hash = 0;
      for (std::size_t k = 0; k < points.dims(); ++k) {
        const double x = points.at(i, k);
        hash = scatter(hash + std::bit_cast<std::uint64_t>(x == 0 ? 0.0 : x));
      }
      hashes[i] = hash;
    }
  });
  return hashes;
}

/// Returns the share of points with the same coordinates as another point. Points whose hashes collide count too.
double duplicate_share(std::vector<std::uint64_t> hashes) {
  parallel_sort(hashes);
  std::size_t duplicates = 0;
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    const bool twin = (i > 0 && hashes[i] == hashes[i - 1]) || (i + 1 < hashes.size() && hashes[i] == hashes[i + 1]);
    duplicates += twin ? 1 : 0;
  }
  return hashes.empty() ? 0 : static_cast<double>(duplicates) / static_cast<double>(hashes.size());
}

/// Returns the step of the lattice that nearly all values lie on; 0 if there is none. values: ascending.
double step_of(std::vector<double> values) {
  const std::size_t n = values.size();
  values.erase(std::unique(values.begin(), values.end()), values.end());
  if (values.size() < 3 || 2 * values.size() >= n) return 0;
  std::vector<double> gaps(values.size() - 1);
  for (std::size_t i = 0; i < gaps.size(); ++i) gaps[i] = values[i + 1] - values[i];
  const double step = *std::min_element(gaps.begin(), gaps.end());
  const auto even = std::count_if(gaps.begin(), gaps.end(), [&](double gap) {
    const double steps = gap / step;
    return std::abs(steps - std::round(steps)) < kGapError * std::max(steps, 1.0);
  });
  return static_cast<double>(even) > kEvenGaps * static_cast<double>(gaps.size()) ? step : 0;
}

double variance_of(const std::vector<double>& values) {
  double mean = 0, sum = 0;
  for (const double x : values) mean += x / static_cast<double>(values.size());
  for (const double x : values) sum += (x - mean) * (x - mean) / static_cast<double>(values.size());
  return sum;
}

}  // namespace

std::vector<Doubt> doubts_of_map(const Exploration& made, const MapScores& scores, std::optional<MapIndex> chosen,
                                 std::size_t n) {
  std::vector<Doubt> doubts;
  const auto doubt = [&](Doubt what, bool holds) {
    if (holds) doubts.push_back(what);
  };
  const auto points = static_cast<double>(std::max<std::size_t>(n, 1));
  double least_core = 1, most_core = 0;
  bool one_cluster = true, any_core = false;
  for (const LineageCell& cell : made.map.cells()) {
    const double core = static_cast<double>(cell.summary.core) / points;
    least_core = std::min(least_core, core);
    most_core = std::max(most_core, core);
    if (core < kLittleCore) continue;
    any_core = true;
    one_cluster = one_cluster && static_cast<double>(cell.summary.largest) >= kOneCluster * points;
  }
  doubt(Doubt::no_clusters, !chosen);
  if (chosen) {
    const CellScore& top = scores.score(*scores.best());
    doubt(Doubt::weak, top.score <= kWeakScore || top.credit < kWeakCredit);
  }
  doubt(Doubt::little_core, most_core < kLittleCore);
  doubt(Doubt::all_core, least_core > kAllCore);
  doubt(Doubt::one_cluster, any_core && one_cluster);
  if (chosen) {
    const Offer& offer = *made.one_eps;
    // Split clusters are recommended only if they score more than the cell. What its plateau and its position in the
    // grid say does not concern them.
    const bool split = made.recommended->score > offer.score;
    doubt(Doubt::no_plateau, !split && offer.plateau.eps_to < kPlateau * offer.plateau.eps_from);
    doubt(Doubt::much_noise, made.recommended->noise > kMuchNoise);
    doubt(Doubt::two_scales, std::any_of(made.alternatives.begin(), made.alternatives.end(), [&](const Offer& other) {
            return other.cell && other.score >= kNearlyAsGood * offer.score;
          }));
    // If the range of minpts reaches into the grid, a larger grid would hardly show more.
    const bool one_minpts = offer.plateau.minpts_from == offer.plateau.minpts_to;
    const bool last_minpts = chosen->minpts == 0 || chosen->minpts + 1 == made.minpts.size();
    const bool edge = chosen->eps == 0 || chosen->eps + 1 == made.eps.size() || (last_minpts && one_minpts);
    doubt(Doubt::edge, !split && edge);
  }
  doubt(Doubt::few_points, n < kFewPoints);
  return doubts;
}

std::vector<Doubt> doubts_of_points(PointsView points, std::optional<SeenAt> at) {
  std::vector<Doubt> doubts;
  const std::vector<std::uint64_t> hashes = hashes_of(points);
  if (duplicate_share(hashes) > kManyDuplicates) doubts.push_back(Doubt::duplicates);
  if (!at) return doubts;
  // The sample is chosen by hashes, so that the order of rows does not matter. Equal points are all in or all out.
  const std::size_t one_in = std::max<std::size_t>(1, points.size() / kSample);
  bool quantised = false;
  double most = 0, all = 0;
  for (std::size_t k = 0; k < points.dims(); ++k) {
    std::vector<double> values;
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (hashes[i] % one_in == 0) values.push_back(points.at(i, k));
    }
    if (values.empty()) continue;
    parallel_sort(values);
    const double variance = variance_of(values);
    most = std::max(most, variance);
    all += variance;
    const double step = step_of(std::move(values));
    quantised = quantised || (step > 0 && at->eps < kStepsOfEps * step);
  }
  if (quantised) doubts.push_back(Doubt::quantised);
  // The other coordinates hardly matter then: they do not move a point out of the smallest eps that shows the clusters.
  // (Clusters may lie along one coordinate and be as wide in the others as in it.)
  const bool others_are_small = all - most < at->least * at->least;
  if (points.dims() > 1 && most > kAxisRules * all && others_are_small) doubts.push_back(Doubt::one_axis_rules);
  return doubts;
}

}  // namespace epsflow
