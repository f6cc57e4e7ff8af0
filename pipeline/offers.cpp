#include <epsflow/pipeline/offers.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <epsflow/clustering/agreement.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/core/slice_rows.hpp>
#include <epsflow/core/stopwatch.hpp>
#include <epsflow/index/nearest.hpp>
#include <epsflow/pipeline/doubts.hpp>
#include <epsflow/pipeline/run_dataset.hpp>
#include <epsflow/pipeline/session.hpp>

namespace epsflow {
namespace {

/// Two offers differ if their adjusted Rand index is smaller.
constexpr double kSame = 0.8;
/// Split and grown clusters differ if it is smaller: both are made from one cell.
constexpr double kSameParts = 0.95;
constexpr std::size_t kMostOffers = 3;

/// Split clusters are recommended in place of a cell if their score is at least this times the cell's, and if this
/// share of their pairs of points are together in the cell's grown clusters. The score is then above kLeastSplit.
constexpr double kBetter = 1.1;
constexpr double kRefines = 0.95;
constexpr double kLeastSplit = 0.2;

/// Clusters are said to be denser than others from this ratio on.
constexpr double kDenser = 2;
/// In many dimensions a ratio of eps gives any ratio of densities, which has no meaning.
constexpr double kMostDenser = 1e6;
/// Split clusters had a mean adjusted Rand index of 0.97 in generated sets (docs/choosing.md). Real data are harder.
constexpr double kSplitConfidence = 0.9;

/// If there is much noise, the confidence is less by this.
constexpr double kLessInNoise = 0.16;

std::string percent(double share) {
  const double value = 100 * share;
  return (value > 0 && value < 1 ? "less than 1" : format_count(static_cast<std::uint64_t>(std::lround(value)))) + " %";
}

std::string reason_of(const CellScore& score, const Plateau& plateau) {
  std::string text = format_count(score.big, "big cluster");
  const double ratio = plateau.eps_to / plateau.eps_from;
  if (ratio > 1) {
    text += ", unchanged from eps " + format_short(plateau.eps_from) + " to " + format_short(plateau.eps_to) + " (×" +
            format_short(ratio) + ")";
  } else {
    text += " at this eps alone";
  }
  if (plateau.minpts_to > plateau.minpts_from) {
    text += " and over minpts " + std::to_string(plateau.minpts_from) + " to " + std::to_string(plateau.minpts_to);
  }
  return text + "; " + percent(score.noise) + " of the points are noise or in small clusters";
}

/// Estimates the confidence from recommendations for sets with known clusters (docs/choosing.md).
double confidence_of(const CellScore& score, const Plateau& plateau, bool at_most) {
  double expected = 0.97;
  if (plateau.minpts_to <= 2 * plateau.minpts_from) expected -= 0.06;
  if (plateau.eps_to < 1.2 * plateau.eps_from) expected -= 0.15;
  if (score.noise > kMuchNoise) expected -= kLessInNoise;
  if (score.credit < 0.8) expected -= 0.09;
  if (at_most) expected -= 0.06;
  return std::clamp(expected, 0.1, 0.97);
}

/// Returns the agreement of two offers on the points that are border points of neither, because the cluster of a border
/// point depends on the order of the rows.
double agreement_of(const Offer& a, const Offer& b) {
  std::vector<std::int32_t> of_a, of_b;
  const auto is_border = [](const Offer& offer, std::size_t i) {
    return offer.labels[i] != kNoise && offer.core[i] == 0;
  };
  for (std::size_t i = 0; i < a.labels.size(); ++i) {
    if (is_border(a, i) || is_border(b, i)) continue;
    of_a.push_back(a.labels[i]);
    of_b.push_back(b.labels[i]);
  }
  return agreement(Contingency(of_a, of_b)).adjusted_rand;
}

/// Labels of clusters that have an eps each.
class MergedLabels {
 public:
  MergedLabels(const MapScores& scores, const EpsPerCluster& clusters, std::size_t n)
      : scores_(scores), of_(clusters), labels_(n), core_(n, 0) {
    std::fill(labels_.span().begin(), labels_.span().end(), kNoise);
  }

  /// Returns the variants to run, by ascending eps.
  [[nodiscard]] std::vector<Variant> variants() const {
    std::vector<Variant> all;
    for (const std::size_t e : of_.all_eps()) all.push_back(scores_.cell_at({e, of_.minpts}).variant);
    return all;
  }
  /// Takes the core points of clusters with the eps of the result.
  void add(const VariantResult& result) {
    std::vector<std::int32_t> number_of(result.summary.clusters, kNoise);
    for (std::size_t k = 0; k < of_.clusters.size(); ++k) {
      const LineageCell& cell = scores_.cell_at({of_.clusters[k].eps, of_.minpts});
      if (cell.variant.eps != result.variant.eps) continue;
      const std::int32_t label = result.labels[cell.first_core[of_.clusters[k].cluster]];
      number_of[static_cast<std::size_t>(label)] = static_cast<std::int32_t>(k);
    }
    for (std::size_t i = 0; i < labels_.size(); ++i) {
      if (result.core[i] == 0) continue;
      const std::int32_t number = number_of[static_cast<std::size_t>(result.labels[i])];
      if (number == kNoise) continue;
      labels_[i] = number;
      core_[i] = 1;
    }
  }
  /// Gives other points to the cluster of the nearest core point, of those within the eps of their clusters. Call it
  /// when all results were added.
  ///
  /// For nearly all points the nearest of all core points decides: its cluster is in reach, or none is. For the others
  /// the core points of each eps are searched, but the smallest, which is not in reach then.
  void add_border(const Session& session) {
    std::vector<std::uint32_t> open, all;
    std::map<std::size_t, std::vector<std::uint32_t>> of_eps;
    for (std::uint32_t i = 0; i < labels_.size(); ++i) {
      if (core_[i] != 0) {
        all.push_back(i);
        of_eps[eps_of(labels_[i])].push_back(i);
      } else {
        open.push_back(i);
      }
    }
    std::vector<double> limits(scores_.eps().size());  // sums
    for (const auto& [e, known] : of_eps) {
      limits[e] = largest_sum(session.metric(), session.points().space(), scores_.eps()[e]);
    }
    const double most = limits[of_eps.rbegin()->first];
    std::vector<std::uint32_t> left;
    find_nearest(session, all, open, [&](std::uint32_t point, double sum, std::int32_t cluster) {
      if (sum <= limits[eps_of(cluster)]) {
        labels_[point] = cluster;
      } else if (sum <= most) {
        left.push_back(point);
      }
    });
    std::map<std::uint32_t, double> nearest;
    of_eps.erase(of_eps.begin());
    for (const auto& [e, known] : of_eps) {
      find_nearest(session, known, left, [&](std::uint32_t point, double sum, std::int32_t cluster) {
        if (sum > limits[eps_of(cluster)]) return;
        const auto [at, is_new] = nearest.emplace(point, sum);
        if (!is_new && at->second <= sum) return;
        at->second = sum;
        labels_[point] = cluster;
      });
    }
  }
  void finish(Offer& offer) {
    std::vector<std::uint64_t> sizes(of_.clusters.size());
    offer.summary.clusters = sizes.size();
    for (const CellCluster& c : of_.clusters) offer.eps_of_clusters.push_back(scores_.eps()[c.eps]);
    offer.variant = {of_.all_eps().size() == 1 ? offer.eps_of_clusters.front() : 0, scores_.minpts()[of_.minpts]};
    for (std::size_t i = 0; i < labels_.size(); ++i) {
      if (labels_[i] == kNoise) {
        ++offer.summary.noise;
        continue;
      }
      offer.summary.largest = std::max(offer.summary.largest, ++sizes[static_cast<std::size_t>(labels_[i])]);
      ++(core_[i] != 0 ? offer.summary.core : offer.summary.border);
    }
    offer.labels = std::move(labels_);
    offer.core = std::move(core_);
  }

 private:
  /// Calls take(point, sum, cluster) for the nearest of `known`, which are core points, of each point of `open`.
  template <class Take>
  void find_nearest(const Session& session, std::span<const std::uint32_t> known, std::span<const std::uint32_t> open,
                    const Take& take) const {
    if (open.empty()) return;
    const PointsView points = session.points().host();
    const std::vector<double> none(known.size(), 0);
    const Buffer<index::MutualNeighbor> found = index::mutual_neighbors(
        in_order(points, known), none, 0, in_order(points, open), session.points().space(), session.stop());
    for (std::size_t q = 0; q < open.size(); ++q) {
      if (found[q].id != index::MutualNeighbor::kNone) take(open[q], found[q].height, labels_[known[found[q].id]]);
    }
  }
  [[nodiscard]] std::size_t eps_of(std::int32_t cluster) const {
    return of_.clusters[static_cast<std::size_t>(cluster)].eps;
  }

  const MapScores& scores_;
  const EpsPerCluster& of_;
  Labels labels_;
  std::vector<std::uint8_t> core_;
};

/// Returns the share of the pairs of points that are together in `fine` that are together in `coarse`, too. Points that
/// are noise in either, or border points in either, are left out.
double share_together(const Offer& fine, const Offer& coarse) {
  std::map<std::pair<std::int32_t, std::int32_t>, double> both;
  std::map<std::int32_t, double> of_fine;
  for (std::size_t i = 0; i < fine.labels.size(); ++i) {
    if (fine.core[i] == 0 || coarse.core[i] == 0) continue;
    ++both[{fine.labels[i], coarse.labels[i]}];
    ++of_fine[fine.labels[i]];
  }
  double pairs = 0, together = 0;
  for (const auto& [cluster, count] : of_fine) pairs += count * (count - 1);
  for (const auto& [clusters, count] : both) together += count * (count - 1);
  return pairs > 0 ? together / pairs : 0;
}

/// Returns the range of eps as words.
std::string range_of_eps(const Plateau& plateau) {
  return format_short(plateau.eps_from) + " to " + format_short(plateau.eps_to) + " (×" +
         format_short(plateau.eps_to / plateau.eps_from) + ")";
}

/// Returns a ratio from 1 on with two significant digits, as in "3.4", "25" and "1,300".
std::string two_digits(double ratio) {
  const double unit = std::pow(10, std::floor(std::log10(ratio)) - 1);
  if (unit < 1) return format_number(std::round(10 * ratio) / 10);
  return format_count(static_cast<std::uint64_t>(std::round(ratio / unit) * unit));
}

/// Returns how much denser some of the clusters are than the others, as words: nothing if less than twice as dense, or
/// if the densities are unknown. The two groups differ most at the largest step between densities. eps: [clusters].
std::string densities_of(const EpsPerCluster& clusters, const std::vector<double>& eps) {
  const std::vector<double>& density = clusters.log_density;
  if (density.empty()) return {};
  std::vector<std::size_t> order(density.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    return std::pair(density[a], eps[b]) > std::pair(density[b], eps[a]);
  });
  std::size_t dense = 1;  // the first ones in the order
  for (std::size_t k = 2; k < order.size(); ++k) {
    const auto step = [&](std::size_t at) { return density[order[at - 1]] - density[order[at]]; };
    if (step(k) > step(dense)) dense = k;
  }
  const auto mean = [&](std::size_t begin, std::size_t end) {
    double sum = 0;
    for (std::size_t k = begin; k < end; ++k) sum += density[order[k]];
    return sum / static_cast<double>(end - begin);
  };
  const double ratio = std::exp(mean(0, dense) - mean(dense, order.size()));
  if (!(ratio >= kDenser && ratio < kMostDenser)) return {};
  std::string text = "; " + format_count(dense) + " of them " + (dense == 1 ? "is" : "are") + " about " +
                     two_digits(ratio) + " times denser than the other" + (order.size() - dense == 1 ? "" : "s");
  double from = std::numeric_limits<double>::infinity(), to = 0, others = from;
  for (std::size_t k = 0; k < order.size(); ++k) {
    double& least = k < dense ? from : others;
    least = std::min(least, eps[order[k]]);
    if (k < dense) to = std::max(to, eps[order[k]]);
  }
  // A dense cluster far from all others merges with them at a large eps. Then its eps does not tell how dense it is.
  if (to < others) {
    text += ", at eps " + format_short(from) + (from < to ? " to " + format_short(to) : "");
  }
  return text;
}

}  // namespace

double round_score(double score) { return std::round(score * 1e4) / 1e4; }

Offering::Offering(const Dataset& data, const RunOptions& options, const MapScores& scores, Forecast& forecast,
                   const TimeBound& bound)
    : data_(data), options_(options), scores_(scores), forecast_(forecast), bound_(bound) {
  options_.keep = Keep::labels;
  options_.labels = MemorySpace::host;
  options_.clusters = false;
  options_.core_mask = true;
}

template <class Take>
void Offering::run_each(const std::vector<Variant>& variants, const CancelToken* cancel, const Take& take) {
  Observer watching = forecast_.next();
  watching.cancel = cancel;
  if (bound_.given()) watching.on_progress = nullptr;  // progress covers the map only
  run_dataset(data_, Sweep(variants), take, options_, watching);
  forecast_.ended();
}

Offer Offering::of_cell(MapIndex cell, const CancelToken* cancel) {
  const CellScore& score = scores_.score(cell);
  Offer offered;
  offered.cell = scores_.cell(cell);
  offered.variant = scores_.cell_at(cell).variant;
  run_each({offered.variant}, cancel, [&](VariantResult&& result) {
    offered.summary = result.summary;
    offered.labels = std::move(result.labels);
    offered.core = std::move(result.core);
    offered.seconds = result.seconds;
  });
  offered.score = round_score(scores_.plateau_score(cell));
  offered.noise = score.noise;
  offered.plateau = scores_.plateau(cell);
  offered.confidence = confidence_of(score, offered.plateau, cell.minpts + 1 == scores_.minpts().size());
  offered.reason = reason_of(score, offered.plateau);
  return offered;
}

Offer Offering::of_clusters(const EpsPerCluster& clusters) {
  Offer offered;
  MergedLabels labels(scores_, clusters, data_.size());
  const Stopwatch time;
  run_each(labels.variants(), &bound_.token(), [&](VariantResult&& result) { labels.add(result); });
  {
    Observer watching;
    watching.cancel = &bound_.token();
    const RunOptions options;
    Session session(data_, options, watching);
    session.on_threads([&] { labels.add_border(session); });
  }
  labels.finish(offered);
  offered.seconds = time.seconds();
  const auto [from, to] = std::ranges::minmax(offered.eps_of_clusters);
  const std::uint32_t minpts = scores_.minpts()[clusters.minpts];
  offered.plateau = {from, to, minpts, minpts};
  return offered;
}

Offer Offering::of_grown(const EpsPerCluster& clusters, const Offer& cell) {
  Offer offered = of_clusters(clusters);
  offered.score = cell.score;
  offered.noise = cell.noise;
  offered.confidence = cell.confidence;
  offered.reason = cell.reason;
  if (offered.variant.eps == 0) {
    offered.reason += "; each cluster has the widest eps at which it is alone, " + range_of_eps(offered.plateau);
  }
  return offered;
}

Offer Offering::of_split(const EpsPerCluster& clusters) {
  Offer offered = of_clusters(clusters);
  offered.score = round_score(clusters.score);
  // Unlike the sizes of clusters, this does not depend on the order of the rows.
  offered.noise = static_cast<double>(offered.summary.noise) / static_cast<double>(data_.size());
  offered.confidence = kSplitConfidence - (offered.noise > kMuchNoise ? kLessInNoise : 0);
  offered.reason = format_count(clusters.clusters.size(), "cluster") +
                   ", each at the eps before it merges with another, " + range_of_eps(offered.plateau) +
                   densities_of(clusters, offered.eps_of_clusters) + "; " + percent(offered.noise) +
                   " of the points are noise";
  return offered;
}

bool Offering::make(Exploration& made, MapIndex chosen, const CancelToken* caller) {
  // The recommended cell is always labelled, the others only while there is time.
  made.one_eps = of_cell(chosen, caller);
  const Offer& cell = *made.one_eps;
  std::vector<Offer> offers{};
  offers.push_back(cell);
  const auto offer = [&](Offer&& next) {
    const bool differs = std::all_of(offers.begin(), offers.end(), [&](const Offer& other) {
      const bool is_parts = &other != &offers.front() && !other.cell;
      return is_parts || agreement_of(next, other) < (next.cell ? kSame : kSameParts);
    });
    if (differs) offers.push_back(std::move(next));
  };
  const EpsPerCluster grown = grown_clusters(scores_, chosen);
  const std::optional<EpsPerCluster> split = best_split(scores_, chosen);
  std::size_t runs = grown.all_eps().size() + (split ? split->all_eps().size() : 0);
  bool finished = true;
  const auto is_time = [&] {
    finished = finished && bound_.fits(static_cast<double>(runs) * cell.seconds);
    return finished;
  };
  try {
    if (is_time()) offers.front() = of_grown(grown, cell);
    if (finished && split) {
      Offer parts = of_split(*split);
      if (split->score > kLeastSplit && split->score >= kBetter * cell.score &&
          split->clusters.size() > scores_.score(chosen).big && share_together(parts, offers.front()) >= kRefines) {
        std::swap(parts, offers.front());
      }
      // Clusters that are about the cell's are not offered twice: one_eps is the cell.
      if (agreement_of(parts, cell) < kSameParts) offer(std::move(parts));
    }
    runs = 1;
    for (const MapIndex peak : scores_.peaks()) {
      if (offers.size() == kMostOffers || !is_time()) break;
      if (peak != chosen) offer(of_cell(peak, &bound_.token()));
    }
  } catch (const Cancelled&) {
    bound_.require_spent();
    finished = false;
  }
  made.recommended = std::move(offers.front());
  for (std::size_t k = 1; k < offers.size(); ++k) made.alternatives.push_back(std::move(offers[k]));
  return finished;
}

}  // namespace epsflow
