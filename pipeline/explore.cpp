#include <epsflow/pipeline/explore.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include <epsflow/clustering/agreement.hpp>
#include <epsflow/clustering/eps_per_cluster.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/core/stopwatch.hpp>
#include <epsflow/index/nearest.hpp>
#include <epsflow/pipeline/doubts.hpp>
#include <epsflow/pipeline/explore_time.hpp>
#include <epsflow/pipeline/k_distance.hpp>
#include <epsflow/pipeline/run_dataset.hpp>
#include <epsflow/pipeline/session.hpp>
#include <epsflow/pipeline/sweep.hpp>

namespace epsflow {
namespace {

constexpr std::size_t kFewestPoints = 10;
constexpr std::size_t kEpsCount = 40;
constexpr std::size_t kMinptsCount = 10;
constexpr std::uint32_t kLeastMinpts = 3;
constexpr double kMostMinpts = 200;
/// The largest minpts is the number of points divided by this.
constexpr double kMinptsShare = 20;
/// The grid begins at the eps with this share of core points, and ends when this share is one cluster.
constexpr double kFirstCore = 0.02;
constexpr double kLastCluster = 0.98;
constexpr int kBisections = 3;
constexpr double kLeastRange = 1.5;

/// The fewest eps that are swept if time is bounded. With 5, hardly any clusters live longer than by chance.
constexpr std::size_t kLeastEps = 10;
/// Work that is expected to take longer than this part of the time left is not begun, because other load varies.
constexpr double kSpare = 0.8;

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

/// Rounds a score. Further digits mean nothing, because the sizes of clusters that it is made of are estimates
/// (sizes_in_any_order()).
double four_decimals(double score) { return std::round(score * 1e4) / 1e4; }

std::string short_number(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.3g", value);
  return text;
}

/// Returns `count` values from `from` to `to` in even ratios.
std::vector<double> even_ratios(double from, double to, std::size_t count) {
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = from * std::pow(to / from, static_cast<double>(i) / static_cast<double>(count - 1));
  }
  values.back() = to;
  return values;
}

std::vector<std::uint32_t> suggested_minpts(std::size_t n) {
  const auto points = static_cast<double>(n);
  const double few = n > kLeastMinpts + kMinptsCount + 5 ? kLeastMinpts + kMinptsCount - 1 : kLeastMinpts + 3;
  double most = std::clamp(points / kMinptsShare, few, kMostMinpts);
  most = std::floor(std::min(most, std::max(std::floor(points / 3), kLeastMinpts + 1.0)));
  std::vector<std::uint32_t> minpts;
  for (const double value : even_ratios(kLeastMinpts, most, kMinptsCount)) {
    const auto next = static_cast<std::uint32_t>(std::nearbyint(value));
    if (minpts.empty() || next > minpts.back()) minpts.push_back(next);
  }
  return minpts;
}

/// Returns options for counts without labels, or for labels of an offer, both on the host.
RunOptions options_for(Keep keep, RunOptions options) {
  options.keep = keep;
  options.labels = MemorySpace::host;
  options.clusters = false;
  options.core_mask = false;
  if (keep == Keep::summary) options.verify = false;
  return options;
}

/// Returns the mean weight of a point, 1 if points have no weights. Throws UsageError for weights below 0.
double mean_weight(const Dataset& data, const RunOptions& options, const Observer& observer) {
  const Session session(data, options, observer);
  session.require_one_slice("explore()");
  if (session.weights() == nullptr || data.size() == 0) return 1;
  const WholeWeights& weights = session.weights()->whole;
  if (weights.negative()) {
    throw UsageError(
        "clusters are followed to larger eps, and some weights are below 0: with these a point may be core at one eps "
        "and not at a larger one; use weights of 0 and more");
  }
  return weights.weight_of(weights.total()) / static_cast<double>(data.size());
}

/// Returns minpts in units of the mean weight. Throws UsageError if they are not valid whole numbers.
std::vector<std::uint32_t> weighted_minpts(std::span<const std::uint32_t> points, double weight) {
  constexpr double kLeastWeight = 0.5;
  constexpr double kMost = std::numeric_limits<std::uint32_t>::max();
  if (!(weight >= kLeastWeight && weight * points.back() <= kMost)) {
    throw UsageError("the mean weight of a point is " + short_number(weight) +
                     ", and minpts, which is a whole number, is to be from " + std::to_string(points.front()) + " to " +
                     std::to_string(points.back()) +
                     " times that: multiply the weights by one factor, so that their mean is 1 or a little more, or "
                     "give a grid of eps and minpts");
  }
  std::vector<std::uint32_t> minpts;
  for (const std::uint32_t p : points) {
    const auto next = static_cast<std::uint32_t>(std::max(1.0, std::nearbyint(p * weight)));
    if (minpts.empty() || next > minpts.back()) minpts.push_back(next);
  }
  return minpts;
}

/// Returns the number of points of the largest cluster of a variant, whatever the order of the rows.
double largest(const Dataset& data, const Variant& variant, const RunOptions& options, const Observer& observer) {
  RunOptions how = options_for(Keep::summary, options);
  how.clusters = true;
  const VariantResult found = std::move(run(data, Sweep({variant}), how, observer).front());
  const std::vector<double> sizes = sizes_in_any_order(found.clusters.core, found.summary.border, variant.minpts);
  return sizes.empty() ? 0 : *std::ranges::max_element(sizes);
}

std::vector<double> suggested_eps(const Dataset& data, std::uint32_t largest_minpts, const RunOptions& options,
                                  const Observer& observer) {
  std::vector<double> distances = k_distances(data, kLeastMinpts - 1, {}, observer);
  std::erase(distances, 0.0);
  if (distances.empty()) return {};
  const auto rank = static_cast<std::ptrdiff_t>(kFirstCore * static_cast<double>(distances.size() - 1));
  std::nth_element(distances.begin(), distances.begin() + rank, distances.end());
  const double from = distances[static_cast<std::size_t>(rank)];
  const double enough = kLastCluster * static_cast<double>(data.size());
  const double most = *std::max_element(distances.begin(), distances.end());
  try {
    (void)transformed_radius(data.metric(), from);
  } catch (const UsageError& error) {
    throw UsageError(std::string(error.what()) + "; the points are so " +
                     (from > 1 ? "far apart: divide" : "close together: multiply") + " all coordinates by one factor");
  }
  const auto joined = [&](double eps) { return largest(data, {eps, largest_minpts}, options, observer) >= enough; };
  double to = from;
  // At an eps beyond the largest distance times the number of points, all points are joined.
  const double end = most * static_cast<double>(data.size());
  while (to < end && !joined(to)) to *= 2;
  double apart = to / 2;
  for (int i = 0; i < kBisections; ++i) {
    const double middle = std::sqrt(apart) * std::sqrt(to);
    (joined(middle) ? to : apart) = middle;
  }
  return round_grid(from, std::max(to, kLeastRange * from), kEpsCount);
}

std::string percent(double share) {
  const double value = 100 * share;
  return (value > 0 && value < 1 ? "less than 1" : format_count(static_cast<std::uint64_t>(std::lround(value)))) + " %";
}

std::string reason_of(const CellScore& score, const Plateau& plateau) {
  std::string text = format_count(score.big, "big cluster");
  const double ratio = plateau.eps_to / plateau.eps_from;
  if (ratio > 1) {
    text += ", unchanged from eps " + short_number(plateau.eps_from) + " to " + short_number(plateau.eps_to) + " (×" +
            short_number(ratio) + ")";
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
  if (score.noise > 0.1) expected -= 0.16;
  if (score.credit < 0.8) expected -= 0.09;
  if (at_most) expected -= 0.06;
  return std::clamp(expected, 0.1, 0.97);
}

/// Returns the lineage of the sweep.
Lineage mapped(const Dataset& data, const Sweep& sweep, const RunOptions& options, Forecast& forecast) {
  LineageBuilder builder(sweep);
  RunOptions how = options_for(Keep::summary, options);
  how.clusters = true;
  for (const Sweep& part : forecast.parts()) {
    run_dataset(
        data, part, [&](VariantResult&& result) { builder.add(result); }, how, forecast.next());
    forecast.ended();
  }
  return builder.finish();
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

/// Some eps of a grid with all of its minpts.
struct EpsRound {
  std::vector<Variant> variants;
  std::size_t eps = 0;
};

/// Divides the eps into rounds, for bounded time. The eps of the first rounds together are in even ratios and include
/// the last eps. Each round except the first has about as many eps as all rounds before it.
std::vector<EpsRound> rounds_of(const Sweep& sweep) {
  const std::vector<std::vector<Variant>> groups = variants_by_eps(sweep);
  const std::size_t last = groups.size() - 1;
  std::size_t stride = 1;
  while (last / (2 * stride) + 1 >= kLeastEps) stride *= 2;
  std::vector<EpsRound> rounds;
  for (std::size_t before = 0; stride > 0; before = stride, stride /= 2) {
    EpsRound round;
    for (std::size_t e = 0; e <= last; ++e) {
      const std::size_t behind = last - e;
      if (behind % stride != 0 || (before != 0 && behind % before == 0)) continue;
      round.variants.insert(round.variants.end(), groups[e].begin(), groups[e].end());
      ++round.eps;
    }
    rounds.push_back(std::move(round));
  }
  return rounds;
}

/// Returns the lineage of as many rounds as the time allows. Throws UsageError if it does not suffice for the first.
Lineage mapped_in_time(const Dataset& data, const Sweep& sweep, const RunOptions& options, const Observer& observer,
                       const TimeBound& bound) {
  RunOptions how = options_for(Keep::summary, options);
  how.clusters = true;
  const double began = bound.left();
  std::vector<VariantResult> results;
  std::size_t swept = 0;  // eps
  for (const EpsRound& round : rounds_of(sweep)) {
    // The eps of a round take about as long as the eps between which they lie. Labels are made afterwards.
    const double of_eps = swept == 0 ? 0 : (began - bound.left()) / static_cast<double>(swept);
    if (of_eps * static_cast<double>(round.eps + 1) > kSpare * bound.left()) break;
    Observer watching = observer;
    watching.cancel = &bound.token();
    if (observer.on_progress) {
      watching.on_progress = [&](Progress p) {
        p.variants_done += results.size();
        p.variants = sweep.size();
        p.seconds = began - bound.left();
        observer.on_progress(p);
      };
    }
    // Results are stored as they come, because a lineage requires the variants of an eps by descending minpts.
    std::vector<VariantResult> made;
    made.reserve(round.variants.size());
    try {
      run_dataset(
          data, Sweep(round.variants), [&](VariantResult&& result) { made.push_back(std::move(result)); }, how,
          watching);
    } catch (const Cancelled&) {
      bound.require_spent();
      break;
    }
    std::move(made.begin(), made.end(), std::back_inserter(results));
    swept += round.eps;
  }
  if (results.empty()) bound.refuse();
  std::vector<Variant> variants;
  variants.reserve(results.size());
  for (const VariantResult& result : results) variants.push_back(result.variant);
  std::sort(variants.begin(), variants.end(),
            [](const Variant& a, const Variant& b) { return a.eps != b.eps ? a.eps < b.eps : a.minpts < b.minpts; });
  LineageBuilder builder{Sweep(variants)};
  for (VariantResult& result : results) builder.add(result);
  return builder.finish();
}

void add_doubts_of_points(Exploration& made, const Dataset& data, SeenAt at, const Observer& observer) {
  // Directions and positions on a sphere have no lattice and no scale.
  const MetricKind kind = data.metric().kind;
  const bool coordinates = !on_sphere(kind) && kind != MetricKind::cosine;
  const RunOptions options;
  Session session(data, options, observer);
  session.on_threads([&] {
    const std::vector<Doubt> others =
        doubts_of_points(session.points().host(), coordinates ? std::optional(at) : std::nullopt);
    made.doubts.insert(made.doubts.end(), others.begin(), others.end());
  });
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
  /// after the last add().
  void add_border(const Session& session) {
    const PointsView points = session.points().host();
    std::vector<std::uint32_t> open;
    for (std::uint32_t i = 0; i < labels_.size(); ++i) {
      if (labels_[i] == kNoise) open.push_back(i);
    }
    if (open.empty()) return;
    const Points queries = rows_of(points, open);
    std::vector<double> nearest(open.size(), std::numeric_limits<double>::infinity());
    for (const std::size_t e : of_.all_eps()) {
      std::vector<std::uint32_t> known;
      for (std::uint32_t i = 0; i < labels_.size(); ++i) {
        if (core_[i] != 0 && of_.clusters[static_cast<std::size_t>(labels_[i])].eps == e) known.push_back(i);
      }
      const std::vector<double> none(known.size(), 0);
      const Buffer<index::MutualNeighbor> found = index::mutual_neighbors(
          rows_of(points, known), none, 0, queries, session.points().space(), session.stop());
      const double most = largest_sum(session.metric(), session.points().space(), scores_.eps()[e]);
      for (std::size_t q = 0; q < open.size(); ++q) {
        if (!(found[q].height <= most && found[q].height < nearest[q])) continue;
        nearest[q] = found[q].height;
        labels_[open[q]] = labels_[known[found[q].id]];
      }
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
  static Points rows_of(PointsView points, std::span<const std::uint32_t> rows) {
    Points some(rows.size(), points.dims(), points.precision());
    const std::size_t bytes = points.dims() * bytes_of(points.precision());
    const auto* const from = static_cast<const std::byte*>(points.data());
    for (std::size_t i = 0; i < rows.size(); ++i) std::copy_n(from + rows[i] * bytes, bytes, some.data() + i * bytes);
    return some;
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
  return short_number(plateau.eps_from) + " to " + short_number(plateau.eps_to) + " (×" +
         short_number(plateau.eps_to / plateau.eps_from) + ")";
}

/// Makes the offers of an exploration.
class Offering {
 public:
  Offering(const Dataset& data, const RunOptions& options, const MapScores& scores, Forecast& forecast, bool bounded)
      : data_(data),
        options_(options_for(Keep::labels, options)),
        scores_(scores),
        forecast_(forecast),
        bounded_(bounded) {
    options_.core_mask = true;
  }

  [[nodiscard]] Offer of_cell(GridPlace place, const CancelToken* cancel) {
    const CellScore& score = scores_.score(place);
    Offer offered;
    offered.cell = scores_.cell(place);
    offered.variant = scores_.cell_at(place).variant;
    run_each({offered.variant}, cancel, [&](VariantResult&& result) {
      offered.summary = result.summary;
      offered.labels = std::move(result.labels);
      offered.core = std::move(result.core);
      offered.seconds = result.seconds;
    });
    offered.score = four_decimals(scores_.plateau_score(place));
    offered.noise = score.noise;
    offered.plateau = scores_.plateau(place);
    offered.confidence = confidence_of(score, offered.plateau, place.minpts + 1 == scores_.minpts().size());
    offered.reason = reason_of(score, offered.plateau);
    return offered;
  }

  /// Labels grown clusters. cell: the offer of the cell that they were grown from.
  [[nodiscard]] Offer of_grown(const EpsPerCluster& clusters, const Offer& cell, const CancelToken* cancel) {
    Offer offered = of_clusters(clusters, cancel);
    offered.score = cell.score;
    offered.noise = cell.noise;
    offered.confidence = cell.confidence;
    offered.reason = cell.reason;
    if (offered.variant.eps == 0) {
      offered.reason += "; each cluster has the widest eps at which it is alone, " + range_of_eps(offered.plateau);
    }
    return offered;
  }
  /// Labels split clusters.
  [[nodiscard]] Offer of_split(const EpsPerCluster& clusters, const CancelToken* cancel) {
    Offer offered = of_clusters(clusters, cancel);
    offered.score = four_decimals(clusters.score);
    offered.noise = clusters.noise;
    offered.confidence = kSplitConfidence;
    offered.reason = format_count(clusters.clusters.size(), "cluster") +
                     ", each at the eps before it merges with another, " + range_of_eps(offered.plateau) + "; " +
                     percent(offered.noise) + " of the points are noise";
    return offered;
  }

 private:
  [[nodiscard]] Offer of_clusters(const EpsPerCluster& clusters, const CancelToken* cancel) {
    Offer offered;
    MergedLabels labels(scores_, clusters, data_.size());
    const Stopwatch time;
    run_each(labels.variants(), cancel, [&](VariantResult&& result) { labels.add(result); });
    {
      Observer watching;
      watching.cancel = cancel;
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

  template <class Take>
  void run_each(const std::vector<Variant>& variants, const CancelToken* cancel, const Take& take) {
    Observer watching = forecast_.next();
    watching.cancel = cancel;
    if (bounded_) watching.on_progress = nullptr;  // progress covers the map only
    run_dataset(data_, Sweep(variants), take, options_, watching);
    forecast_.ended();
  }

  /// Split clusters had a mean adjusted Rand index of 0.97 in generated sets (docs/choosing.md). Real data are harder.
  static constexpr double kSplitConfidence = 0.9;

  const Dataset& data_;
  RunOptions options_;
  const MapScores& scores_;
  Forecast& forecast_;
  bool bounded_;
};

/// Fills the offers for a recommended cell. Returns false if the time did not suffice for all of them.
bool make_offers(Exploration& made, Offering& offering, const MapScores& scores, GridPlace chosen,
                 const TimeBound& bound, const CancelToken* caller) {
  // The recommended cell is always labelled, the others only while there is time.
  made.one_eps = offering.of_cell(chosen, caller);
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
  const EpsPerCluster grown = grown_clusters(scores, chosen);
  const std::optional<EpsPerCluster> split = best_split(scores, chosen);
  std::size_t runs = grown.all_eps().size() + (split ? split->all_eps().size() : 0);
  bool finished = true;
  const auto is_time = [&] {
    finished = finished && static_cast<double>(runs) * cell.seconds <= kSpare * bound.left();
    return finished;
  };
  try {
    if (is_time()) offers.front() = offering.of_grown(grown, cell, &bound.token());
    if (finished && split) {
      Offer parts = offering.of_split(*split, &bound.token());
      if (split->score > kLeastSplit && split->score >= kBetter * cell.score &&
          split->clusters.size() > scores.score(chosen).big && share_together(parts, offers.front()) >= kRefines) {
        std::swap(parts, offers.front());
      }
      offer(std::move(parts));
    }
    runs = 1;
    for (const GridPlace place : scores.peaks()) {
      if (offers.size() == kMostOffers || !is_time()) break;
      if (place != chosen) offer(offering.of_cell(place, &bound.token()));
    }
  } catch (const Cancelled&) {
    bound.require_spent();
    finished = false;
  }
  made.recommended = std::move(offers.front());
  for (std::size_t k = 1; k < offers.size(); ++k) made.alternatives.push_back(std::move(offers[k]));
  return finished;
}

Exploration explored(const Dataset& data, const Sweep& sweep, const RunOptions& options, const Observer& observer,
                     const TimeBound& bound) {
  Exploration made;
  if (sweep.size() == 0) {
    made.doubts = {Doubt::no_clusters};
    if (data.size() < kFewPoints) made.doubts.push_back(Doubt::few_points);
    add_doubts_of_points(made, data, {}, observer);
    return made;
  }
  require_even_grid(sweep.variants());
  const double weight = mean_weight(data, options_for(Keep::summary, options), observer);
  Forecast forecast(sweep, MapScores::kCandidates / 2, observer);
  made.map =
      bound.given() ? mapped_in_time(data, sweep, options, observer, bound) : mapped(data, sweep, options, forecast);
  const MapScores scores(made.map, data.size(), data.dims(), weight);
  made.eps.assign(scores.eps().begin(), scores.eps().end());
  made.minpts.assign(scores.minpts().begin(), scores.minpts().end());
  for (std::size_t e = 0; e < made.eps.size(); ++e) {
    for (std::size_t m = 0; m < made.minpts.size(); ++m) {
      made.scores.push_back(scores.score({e, m}));
      made.scores.back().score = four_decimals(made.scores.back().score);
    }
  }
  const std::optional<GridPlace> chosen = scores.recommended();
  bool finished = true;
  if (chosen) {
    Offering offering(data, options, scores, forecast, bound.given());
    finished = make_offers(made, offering, scores, *chosen, bound, observer.cancel);
  }
  made.doubts = doubts_of_map(made, scores, chosen, data.size());
  const double middle = std::sqrt(made.eps.front()) * std::sqrt(made.eps.back());
  const SeenAt at = chosen ? SeenAt{made.one_eps->variant.eps, made.one_eps->plateau.eps_from} : SeenAt{middle, middle};
  finished = finished && bound.left() > 0;
  if (finished) add_doubts_of_points(made, data, at, observer);
  if (made.map.cells().size() < sweep.size()) made.doubts.push_back(Doubt::coarse);
  if (!finished) made.doubts.push_back(Doubt::unfinished);
  return made;
}

}  // namespace

std::string sentence_of(Doubt doubt) {
  switch (doubt) {
    case Doubt::no_clusters:
      return "probably no clusters at all: none of 1 % of the points or more, with at most half of the points noise, "
             "lives longer along eps than chance explains";
    case Doubt::weak:
      return "weak: the clusters live hardly longer than chance explains";
    case Doubt::little_core:
      return "almost nothing is core in any cell: larger eps or smaller minpts would show more";
    case Doubt::all_core:
      return "almost all points are core in every cell: smaller eps or larger minpts would show more";
    case Doubt::one_cluster:
      return "all is one cluster wherever points are core: smaller eps would show more";
    case Doubt::no_plateau:
      return "no plateau: the answer hangs on eps";
    case Doubt::much_noise:
      return "more than a tenth of the points are noise or in small clusters: clusters may lie there that this eps "
             "does not see";
    case Doubt::two_scales:
      return "another scale is about as good: look at the alternatives";
    case Doubt::edge:
      return "the answer lies at the edge of the grid: a larger grid may show a better one";
    case Doubt::few_points:
      return "there are few points: chance may look like clusters";
    case Doubt::duplicates:
      return "many points share all coordinates with another: count them as weights of one point, if they are one";
    case Doubt::quantised:
      return "coordinates are quantised, and eps is less than four of their steps: a little more or less may change "
             "much";
    case Doubt::one_axis_rules:
      return "one coordinate has nearly all of the variance: scale the coordinates if their units differ";
    case Doubt::coarse:
      return "time was short: fewer eps were swept than the grid has, and with more time the answer may be another";
    case Doubt::unfinished:
      return "time was short: not all that may be an alternative or a doubt was looked for";
  }
  return {};
}

Sweep suggest(const Dataset& data, const RunOptions& options, const Observer& caller) {
  Observer observer = caller;
  observer.on_progress = nullptr;  // the many small runs report no progress
  const double weight = mean_weight(data, options_for(Keep::summary, options), observer);
  if (data.size() < kFewestPoints) return Sweep();
  const std::vector<std::uint32_t> minpts = weighted_minpts(suggested_minpts(data.size()), weight);
  const std::vector<double> eps = suggested_eps(data, minpts.back(), options, observer);
  return eps.empty() ? Sweep() : grid(eps, minpts);
}

Exploration explore(const Dataset& data, const RunOptions& options, const Observer& observer,
                    std::optional<double> seconds) {
  const TimeBound bound(seconds, observer.cancel);
  Observer watching = observer;
  watching.cancel = &bound.token();
  Sweep sweep;
  try {
    sweep = suggest(data, options, watching);
  } catch (const Cancelled&) {
    bound.require_spent();
    bound.refuse();
  }
  return explored(data, sweep, options, observer, bound);
}

Exploration explore(const Dataset& data, const Sweep& sweep, const RunOptions& options, const Observer& observer,
                    std::optional<double> seconds) {
  return explored(data, sweep, options, observer, TimeBound(seconds, observer.cancel));
}

}  // namespace epsflow
