#include <epsflow/pipeline/rehearsal.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include <epsflow/core/error.hpp>
#include <epsflow/index/leaf_order.hpp>
#include <epsflow/stages/cluster_variants.hpp>

namespace epsflow {
namespace {

/// The share of the points that is the sample, one in so many; but it has not fewer points than these.
constexpr std::uint64_t kShare = 16;
constexpr std::uint64_t kFewest = 32768;
/// Stretches that the sample is made of: few, so that few neighbourhoods are cut, and not too few to be like the whole.
constexpr std::uint64_t kStretches = 16;
/// Coordinates that one search of the sample compares, at most: about half a second on one core.
constexpr double kMostCompared = 1e9;

}  // namespace

std::uint64_t Rehearsal::sample_size(std::uint64_t candidates) const {
  const std::uint64_t n = session_.points().size();
  const auto dims = static_cast<double>(session_.points().dims());
  const double compared = static_cast<double>(candidates) / static_cast<double>(n) * dims;  // for each point
  // Points of the sample have at most as many candidates as among all points, and at most the sample.
  const double most = std::max(kMostCompared / std::max(compared, 1.0), std::sqrt(kMostCompared / dims));
  return std::min({n, std::max(n / kShare, kFewest), static_cast<std::uint64_t>(most)});
}

void Rehearsal::find_order() {
  if (!order_.empty()) return;
  const LoadedPoints& points = session_.points();
  order_memory_ = MemoryCharge(session_.budget(), index::LeafOrder::most_bytes(points.size(), points.dims()),
                               "an order of the points");
  const index::LeafOrder leaves(points.host(), session_.stop());
  order_ = Buffer<std::uint32_t>(points.size());
  std::ranges::copy(leaves.order(), order_.begin());
  order_memory_.shrink(order_.bytes());
}

Rehearsal::Chosen Rehearsal::choose(std::uint64_t size) {
  const std::uint64_t n = session_.points().size();
  Chosen chosen;
  chosen.ids.reserve(size);
  if (const auto& slices = session_.points().space().slices; slices != nullptr) {
    // From all over the points, until a slice is larger than the sample shall be.
    std::vector<std::uint64_t> offsets{0};
    std::uint64_t largest = 0;
    for (std::size_t s = 0; s < slices->count(); ++s) {
      largest = std::max<std::uint64_t>(largest, slices->last(s) - slices->first(s));
      if (chosen.ids.size() >= size * slices->last(s) / n) continue;
      for (std::uint32_t id = slices->first(s); id < slices->last(s); ++id) chosen.ids.push_back(id);
      offsets.push_back(chosen.ids.size());
    }
    if (largest <= size) {
      chosen.slices = std::make_shared<const Slices>(offsets, chosen.ids.size());
      return chosen;
    }
    chosen.ids.clear();
  }
  find_order();
  for (std::uint64_t s = 0; s < kStretches; ++s) {
    const std::uint64_t count = (s + 1) * size / kStretches - chosen.ids.size();
    const auto first = order_.begin() + s * order_.size() / kStretches;
    chosen.ids.insert(chosen.ids.end(), first, first + count);
  }
  return chosen;
}

Rehearsal::Sample Rehearsal::sample(std::uint64_t wanted) {
  const auto chosen = choose(wanted);
  const auto& ids = chosen.ids;
  const std::uint64_t size = ids.size();
  const PointsView all = session_.points().host();
  const std::size_t dims = all.dims();
  const LoadedWeights* const weights = session_.weights();
  constexpr std::uint64_t kWeightBytes = sizeof(double) + sizeof(std::int64_t);
  Sample made{
      .memory = MemoryCharge(session_.budget(),
                             size * (dims * bytes_of(all.precision()) + (weights != nullptr ? kWeightBytes : 0)),
                             "a sample of the points"),
      .points = Points(size, dims, all.precision())};
  all.visit([&](auto values) {
    auto to = made.points.values<std::remove_const_t<typename decltype(values)::element_type>>().begin();
    for (const std::uint32_t id : ids) to = std::ranges::copy(values.subspan(id * dims, dims), to).out;
  });
  made.loaded = session_.load(made.points, chosen.slices);
  if (weights != nullptr) {
    std::vector<double> of_sample;
    of_sample.reserve(size);
    for (const std::uint32_t id : ids) of_sample.push_back(weights->whole.weight_of(weights->whole[id]));
    made.weights.emplace(made.loaded->load(WholeWeights(of_sample)));
  }
  return made;
}

double Rehearsal::run(const stages::EpsGroup& group, const LoadedPoints& points, const LoadedWeights* weights,
                      Strategy strategy) {
  RunOptions options = options_;
  options.strategy = strategy == Strategy::direct ? StrategyChoice::direct : StrategyChoice::table;
  CancelToken stop(&session_.stop());  // a lack of memory ends the rehearsal alone
  const stages::ClusterVariants cluster{.method = options.method,
                                        .verify = options.verify,
                                        .core_mask = options.core_mask,
                                        .keep = options.keep,
                                        .clusters = options.clusters,
                                        .points = options.verify ? points.host() : PointsView{},
                                        .space = points.space(),
                                        .weights = whole_of(weights),
                                        .workers = session_.threads(),
                                        .cancel = stop};
  const auto drop = [](VariantResult&&) {};
  const auto begin = std::chrono::steady_clock::now();
  session_.rehearse(points, weights, options, stop, {group},
                    {.consume = [&](const stages::EpsJob& job) { cluster(job, drop); },
                     .bytes = [&](std::size_t variants) { return cluster.bytes(points.size(), variants); },
                     .result = drop,
                     .moved = [](double, double) {}});
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

std::optional<double> Rehearsal::seconds(const stages::EpsGroup& group, const IndexOptions& index,
                                         std::uint64_t candidates, Strategy strategy) try {
  const LoadedPoints& all = session_.points();
  if (all.size() == 0 || session_.backend().name() != "cpu") return std::nullopt;
  const std::uint64_t size = sample_size(candidates);
  if (size == all.size()) return run(group, all, session_.weights(), strategy);
  const Sample few = sample(size);
  const double took = run(group, *few.loaded, few.weights ? &*few.weights : nullptr, strategy);
  const double points = static_cast<double>(all.size()) / static_cast<double>(few.points.size());
  if (candidates == 0) return took * points;
  // At the ends of the stretches candidates are missing. A table is made of all candidates; a search that stops once it has minpts
  // neighbours takes less than all of them and more than a constant part: the mean of the two is within a factor of two of what was
  // measured (benchmarks/results/estimates.md).
  IndexOptions of_cells = index;
  of_cells.pairs = false;
  const std::uint64_t tested = few.loaded->build_index(of_cells, session_.stop())->figures().candidates;
  const double pairs = static_cast<double>(candidates) / static_cast<double>(std::max<std::uint64_t>(tested, 1));
  return took * (strategy == Strategy::table ? pairs : std::sqrt(points * pairs));
} catch (const ResourceError&) {
  return std::nullopt;
}

}  // namespace epsflow
