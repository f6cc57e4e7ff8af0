#include <epsflow/pipeline/explore.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/pipeline/doubts.hpp>
#include <epsflow/pipeline/explore_time.hpp>
#include <epsflow/pipeline/k_distance.hpp>
#include <epsflow/pipeline/offers.hpp>
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

/// Returns options for counts without labels. clusters: RunOptions::clusters.
RunOptions for_counts(RunOptions options, bool clusters) {
  options.keep = Keep::summary;
  options.labels = MemorySpace::host;
  options.clusters = clusters;
  options.core_mask = false;
  options.verify = false;
  return options;
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
    throw UsageError("the mean weight of a point is " + format_short(weight) +
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
  const RunOptions how = for_counts(options, true);
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

/// Returns the lineage of the sweep.
Lineage mapped(const Dataset& data, const Sweep& sweep, const RunOptions& options, Forecast& forecast) {
  LineageBuilder builder(sweep);
  const RunOptions how = for_counts(options, true);
  for (const Sweep& part : forecast.parts()) {
    run_dataset(
        data, part, [&](VariantResult&& result) { builder.add(result); }, how, forecast.next());
    forecast.ended();
  }
  return builder.finish();
}

/// Divides the eps into rounds, for bounded time. The eps of the first rounds together are in even ratios and include
/// the last eps. Each round except the first has about as many eps as all rounds before it. sweep: a full grid.
std::vector<std::vector<Variant>> rounds_of(const Sweep& sweep) {
  const std::vector<std::vector<Variant>> groups = variants_by_eps(sweep);
  const std::size_t last = groups.size() - 1;
  std::size_t stride = 1;
  while (last / (2 * stride) + 1 >= kLeastEps) stride *= 2;
  std::vector<std::vector<Variant>> rounds;
  for (std::size_t before = 0; stride > 0; before = stride, stride /= 2) {
    std::vector<Variant>& round = rounds.emplace_back();
    for (std::size_t e = 0; e <= last; ++e) {
      const std::size_t from_last = last - e;
      if (from_last % stride != 0 || (before != 0 && from_last % before == 0)) continue;
      round.insert(round.end(), groups[e].begin(), groups[e].end());
    }
  }
  return rounds;
}

/// Returns the lineage of as many rounds as the time allows. Throws UsageError if it does not suffice for the first.
Lineage mapped_in_time(const Dataset& data, const Sweep& sweep, const RunOptions& options, const Observer& observer,
                       const TimeBound& bound) {
  const RunOptions how = for_counts(options, true);
  const double began = bound.left();
  std::vector<VariantResult> results;
  const auto minpts = std::ranges::count(sweep.variants(), sweep.variants().front().eps, &Variant::eps);  // of an eps
  for (const std::vector<Variant>& round : rounds_of(sweep)) {
    // The eps of a round take about as long as the eps between which they lie. Labels, made afterwards, take one more.
    const double of_variant = results.empty() ? 0 : (began - bound.left()) / static_cast<double>(results.size());
    if (!bound.fits(of_variant * static_cast<double>(round.size() + static_cast<std::size_t>(minpts)))) break;
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
    made.reserve(round.size());
    try {
      run_dataset(
          data, Sweep(round), [&](VariantResult&& result) { made.push_back(std::move(result)); }, how, watching);
    } catch (const Cancelled&) {
      bound.require_spent();
      break;
    }
    std::move(made.begin(), made.end(), std::back_inserter(results));
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

void add_doubts_of_points(Exploration& made, const Dataset& data, std::optional<SeenAt> at, const Observer& observer) {
  // Directions and positions on a sphere have no lattice and no scale.
  const MetricKind kind = data.metric().kind;
  const bool coordinates = !on_sphere(kind) && kind != MetricKind::cosine;
  const RunOptions options;
  Session session(data, options, observer);
  session.on_threads([&] {
    const std::vector<Doubt> others = doubts_of_points(session.points().host(), coordinates ? at : std::nullopt);
    made.doubts.insert(made.doubts.end(), others.begin(), others.end());
  });
}

Exploration explored(const Dataset& data, const Sweep& sweep, const RunOptions& options, const Observer& observer,
                     const TimeBound& bound) {
  Exploration made;
  if (sweep.size() == 0) {
    made.doubts = {Doubt::no_clusters};
    if (data.size() < kFewPoints) made.doubts.push_back(Doubt::few_points);
    add_doubts_of_points(made, data, std::nullopt, observer);
    return made;
  }
  require_even_grid(sweep.variants());
  const double weight = mean_weight(data, for_counts(options, false), observer);
  Forecast forecast(sweep, MapScores::kCandidates / 2, observer);
  made.map =
      bound.given() ? mapped_in_time(data, sweep, options, observer, bound) : mapped(data, sweep, options, forecast);
  const MapScores scores(made.map, data.size(), data.dims(), weight);
  made.eps.assign(scores.eps().begin(), scores.eps().end());
  made.minpts.assign(scores.minpts().begin(), scores.minpts().end());
  for (std::size_t e = 0; e < made.eps.size(); ++e) {
    for (std::size_t m = 0; m < made.minpts.size(); ++m) {
      made.scores.push_back(scores.score({e, m}));
      made.scores.back().score = round_score(made.scores.back().score);
    }
  }
  const std::optional<MapIndex> chosen = scores.recommended();
  bool finished = true;
  if (chosen) {
    finished = Offering(data, options, scores, forecast, bound).make(made, *chosen, observer.cancel);
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
      return "more than a tenth of the points are noise or in small clusters: clusters may lie there "
             "unseen";
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
  const double weight = mean_weight(data, for_counts(options, false), observer);
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
