#include <epsflow/pipeline/plan.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include <epsflow/clustering/verify.hpp>
#include <epsflow/core/buffer.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/slice_rows.hpp>
#include <epsflow/core/stopwatch.hpp>
#include <epsflow/index/leaf_order.hpp>
#include <epsflow/pipeline/flow.hpp>
#include <epsflow/pipeline/session.hpp>
#include <epsflow/stages/choose_strategy.hpp>

namespace epsflow {
namespace {

/// The sample is one in kShare of the points, but at least kFewest points.
constexpr std::uint64_t kShare = 16;
constexpr std::uint64_t kFewest = 32768;
/// Number of stretches of the sample: few, so that few neighbourhoods are cut, and enough to be like the whole.
constexpr std::uint64_t kStretches = 16;
/// The most coordinates that one search of the sample compares: about half a second on one core.
constexpr double kMostCompared = 1e9;

/// Measures how long groups take, by runs on a sample of the points on the same machine, threads and options.
/// Neighbourhoods in the sample are mostly whole: it consists of stretches of the points along a curve
/// (index/leaf_order.hpp), or of whole slices if these are small enough.
class SampleRuns {
 public:
  /// The arguments must outlive it.
  SampleRuns(Session& session, const RunOptions& options) : session_(session), options_(options) {}

  /// Returns the seconds that the variants of the group take on all points, the index included. index, candidates: the
  /// options and IndexFigures::candidates of the index of all points, which is a list of pairs if index.pairs. Works on
  /// the threads of the calling arena. Returns nullopt on a GPU, where time does not grow with the points: 1.9 million
  /// took 0.82 ms, and 15 million 3.12 ms (benchmarks/results/gpu.md); and nullopt if the sample does not fit into
  /// memory. Throws Cancelled.
  [[nodiscard]] std::optional<double> seconds(const stages::EpsGroup& group, const IndexOptions& index,
                                              std::uint64_t candidates, Strategy strategy);

 private:
  /// A sample of the points with their weights.
  struct PointSample {
    MemoryCharge memory = {};
    Points points = {};
    std::unique_ptr<const LoadedPoints> loaded = nullptr;
    std::optional<LoadedWeights> weights = std::nullopt;
  };

  /// slices: null, or the slices of the points in the sample.
  [[nodiscard]] PointSample load(std::span<const std::uint32_t> ids, std::shared_ptr<const Slices> slices) const;
  /// Returns a sample of about `size` points.
  [[nodiscard]] PointSample sample(std::uint64_t size);
  /// Returns the ids of points in stretches along a curve.
  [[nodiscard]] std::vector<std::uint32_t> stretches(std::uint64_t size);
  /// lists: whether points may be searched in a list of pairs (index/pair_list.hpp).
  [[nodiscard]] double run(const stages::EpsGroup& group, const LoadedPoints& points, const LoadedWeights* weights,
                           Strategy strategy, bool lists);

  Session& session_;
  const RunOptions& options_;
  MemoryCharge order_memory_;
  Buffer<std::uint32_t> order_;  ///< ids of the points along the curve; empty until it is needed
};

/// Returns the number of points in the sample.
std::uint64_t sample_size(const LoadedPoints& points, std::uint64_t candidates) {
  const std::uint64_t n = points.size();
  const auto dims = static_cast<double>(points.dims());
  const double compared = static_cast<double>(candidates) / static_cast<double>(n) * dims;  // for each point
  // A point of the sample has at most as many candidates as among all points, and at most the whole sample.
  const double most = std::max(kMostCompared / std::max(compared, 1.0), std::sqrt(kMostCompared / dims));
  return std::min({n, std::max(n / kShare, kFewest), static_cast<std::uint64_t>(most)});
}

std::vector<std::uint32_t> SampleRuns::stretches(std::uint64_t size) {
  if (order_.empty()) {
    const LoadedPoints& points = session_.points();
    order_memory_ = MemoryCharge(session_.budget(), index::LeafOrder::most_bytes(points.size(), points.dims()),
                                 "an order of the points");
    const index::LeafOrder leaves(points.host(), session_.stop());
    order_ = Buffer<std::uint32_t>(points.size());
    std::ranges::copy(leaves.order(), order_.begin());
    order_memory_.shrink(order_.bytes());
  }
  std::vector<std::uint32_t> ids;
  for (std::uint64_t s = 0; s < kStretches; ++s) {
    const std::uint64_t count = (s + 1) * size / kStretches - ids.size();
    const auto first = order_.begin() + s * order_.size() / kStretches;
    ids.insert(ids.end(), first, first + count);
  }
  return ids;
}

SampleRuns::PointSample SampleRuns::sample(std::uint64_t size) {
  const auto& slices = session_.points().space().slices;
  if (slices == nullptr) return load(stretches(size), nullptr);
  // Whole slices spread over all points, unless one is larger than the sample.
  std::vector<std::uint32_t> ids;
  std::vector<std::uint64_t> offsets{0};
  std::uint64_t largest = 0;
  for (std::size_t s = 0; s < slices->count(); ++s) {
    largest = std::max<std::uint64_t>(largest, slices->last(s) - slices->first(s));
    if (ids.size() >= size * slices->last(s) / session_.points().size()) continue;
    for (std::uint32_t id = slices->first(s); id < slices->last(s); ++id) ids.push_back(id);
    offsets.push_back(ids.size());
  }
  if (largest > size) return load(stretches(size), nullptr);
  return load(ids, std::make_shared<const Slices>(offsets, ids.size()));
}

SampleRuns::PointSample SampleRuns::load(std::span<const std::uint32_t> ids,
                                         std::shared_ptr<const Slices> slices) const {
  const PointsView all = session_.points().host();
  const LoadedWeights* const weights = session_.weights();
  const std::uint64_t of_weight = weights != nullptr ? sizeof(double) + sizeof(std::int64_t) : 0;
  PointSample made{
      .memory = MemoryCharge(session_.budget(), ids.size() * (all.dims() * bytes_of(all.precision()) + of_weight),
                             "a sample of the points"),
      .points = in_order(all, ids)};
  made.loaded = session_.load(made.points, std::move(slices));
  if (weights != nullptr) {
    std::vector<double> of_sample;
    of_sample.reserve(ids.size());
    for (const std::uint32_t id : ids) of_sample.push_back(weights->whole.weight_of(weights->whole[id]));
    made.weights.emplace(made.loaded->load(WholeWeights(of_sample)));
  }
  return made;
}

double SampleRuns::run(const stages::EpsGroup& group, const LoadedPoints& points, const LoadedWeights* weights,
                       Strategy strategy, bool lists) {
  RunOptions options = options_;
  options.strategy = strategy == Strategy::direct ? StrategyChoice::direct : StrategyChoice::table;
  if (!lists && points.dims() <= 3 && options.search.index == IndexChoice::automatic) {
    options.search.index = IndexChoice::grid;
  }
  CancelToken stop(&session_.stop());  // a lack of memory ends this run alone
  const Stopwatch time;
  session_.run_on(points, weights, options, stop, {group}, {.result = [](VariantResult&&) {}});
  return time.seconds();
}

std::optional<double> SampleRuns::seconds(const stages::EpsGroup& group, const IndexOptions& index,
                                          std::uint64_t candidates, Strategy strategy) try {
  const LoadedPoints& all = session_.points();
  if (all.size() == 0 || session_.backend().name() != "cpu") return std::nullopt;
  const std::uint64_t size = sample_size(all, candidates);
  if (size == all.size()) return run(group, all, session_.weights(), strategy, true);
  const PointSample few = sample(size);
  const double took = run(group, *few.loaded, few.weights ? &*few.weights : nullptr, strategy, index.pairs);
  const double points = static_cast<double>(all.size()) / static_cast<double>(few.points.size());
  if (candidates == 0) return took * points;
  // Candidates are missing at the ends of the stretches. A table is made of all candidates. A search that stops once it
  // has minpts neighbours tests fewer than all and more than a constant part: the geometric mean of the two is within a
  // factor of two of the measurements (benchmarks/results/explore.md).
  IndexOptions of_cells = index;
  of_cells.pairs = false;
  const std::uint64_t tested = few.loaded->build_index(of_cells, session_.stop())->figures().candidates;
  const double pairs = static_cast<double>(candidates) / static_cast<double>(std::max<std::uint64_t>(tested, 1));
  return took * (strategy == Strategy::table ? pairs : std::sqrt(points * pairs));
} catch (const ResourceError&) {
  return std::nullopt;
}

/// memory: bytes that are free before the first plan. Samples take some of them.
GroupPlan plan_group(const FlowContext& context, SampleRuns& runs, const stages::EpsGroup& group,
                     std::uint64_t memory) {
  const RunOptions& options = context.options;
  const LoadedPoints& points = context.points;
  const stages::ChooseStrategy choose{strategy_wanted(options), table_wanted(options), points.dims(), memory};
  IndexOptions of_group = index_options(context, choose.cells());
  of_group.eps = group.radius;
  const auto index = points.build_index(of_group, context.stop);
  const IndexFigures figures = index->figures();
  const stages::StrategyAnswer answer = choose(group, index->bytes(), figures);
  GroupPlan plan{.eps = group.eps,
                 .minpts = group.minpts,
                 .strategy = answer.strategy,
                 .reason = std::string(answer.reason),
                 .dense_boxes = figures.dense_boxes,
                 .cells = figures.cells,
                 .candidates = figures.candidates,
                 .index = figures.index,
                 .decide = figures.decide};
  std::uint64_t use = 0;  // bytes of the table or clustering that uses the index
  if (plan.strategy == Strategy::direct) {
    // Counting the border points of cells takes one search before the first minpts (clustering/cell_borders.cpp).
    const bool finds_borders_first = plan.dense_boxes && options.keep == Keep::summary;
    plan.passes = 1 + plan.minpts.size() + (finds_borders_first ? 1 : 0);
    use = index->direct_bytes(direct_options(context, plan.minpts)) +
          (options.verify ? points.size() * clustering::kVerifyBytesPerPoint : 0);
  } else {
    const auto search = index->table(table_options(context));
    const auto layout = search->layout();
    plan.packed = layout != nullptr;
    plan.pairs = search->plan().pairs;
    use = (plan.packed ? packed_table_bytes(points.size(), *layout) : csr_table_bytes(points.size(), plan.pairs)) +
          cluster_variants(context).bytes(points.size(), plan.minpts.size());
  }
  // Building the index takes more than it holds.
  const std::uint64_t held = points.bytes() + (context.weights != nullptr ? context.weights->whole.bytes() : 0);
  plan.bytes = held + std::max(points.index_bytes(of_group), index->bytes() + use);
  plan.fits = plan.bytes - held <= choose.memory;
  of_group.pairs = figures.pairs_stay;
  if (plan.fits) plan.seconds = runs.seconds(group, of_group, plan.candidates, plan.strategy);
  return plan;
}

}  // namespace

std::optional<double> total_seconds(std::span<const GroupPlan> plans) noexcept {
  double total = 0;
  for (const GroupPlan& plan : plans) {
    if (!plan.seconds) return std::nullopt;
    total += *plan.seconds;
  }
  return total;
}

std::vector<GroupPlan> plan(const PointSet& points, const Sweep& sweep, const EngineOptions& engine,
                            const RunOptions& options, const Observer& observer) {
  std::vector<GroupPlan> plans;
  if (sweep.size() == 0) return plans;
  const LoadedSet loaded(points, engine, options, observer);
  Session session(loaded.data(), options, observer);
  session.on_threads([&] {
    SampleRuns runs(session, options);
    const std::uint64_t memory = session.pool().available();
    for (const stages::EpsGroup& group : session.groups(sweep)) {
      session.stop().check();
      plans.push_back(plan_group(session.context(), runs, group, memory));
    }
  });
  return plans;
}

}  // namespace epsflow
