#include <epsflow/windows/window.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/random_points.hpp"

#include <epsflow/core/error.hpp>
#include <epsflow/core/metric.hpp>
#include <epsflow/pipeline/sweep.hpp>

namespace epsflow::test {
namespace {

const WindowOptions kOneThread{.engine = {.threads = 1, .backend = BackendChoice::cpu}};

/// The source of random steps: coordinates to draw from, and the options of the window.
struct Stream {
  std::size_t dims = 2;
  std::vector<double> pool;  ///< [p × dims] coordinates that arrive
  Sweep sweep;
  WindowOptions options;
};

/// The core points of clusters: id of the cluster by id of the point.
using CoreOf = std::map<std::uint64_t, std::uint64_t>;

CoreOf core_of(const Window& window, const WindowResult& result) {
  CoreOf found;
  const auto ids = window.ids();
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (result.core[i] != 0) found[ids[i]] = result.clusters[static_cast<std::size_t>(result.labels[i])].id;
  }
  return found;
}

/// Checks ids and changes against the core points that clusters share with those before the step. The oracle of
/// tests/tracks checks the rule itself (clustering/cluster_matching.hpp). next: the id of the next new cluster.
void check_ids(const CoreOf& before, const CoreOf& after, const WindowResult& result, std::uint64_t& next) {
  std::map<std::uint64_t, std::uint64_t> first_core;  // of each later cluster
  for (const auto& [point, cluster] : after) first_core.try_emplace(cluster, point);
  REQUIRE(first_core.size() == result.clusters.size());
  for (const WindowCluster& cluster : result.clusters) REQUIRE(first_core.at(cluster.id) == cluster.first_core);
  const auto indices_of = [](const std::vector<WindowCluster>& clusters) {
    std::map<std::uint64_t, std::uint32_t> indices;
    for (const WindowCluster& cluster : clusters)
      indices.emplace(cluster.id, static_cast<std::uint32_t>(indices.size()));
    return indices;
  };
  const auto earlier = indices_of(result.earlier), later = indices_of(result.clusters);
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> points;
  for (const auto& [point, cluster] : before) {
    const auto found = after.find(point);
    if (found != after.end()) ++points[{earlier.at(cluster), later.at(found->second)}];
  }
  std::vector<SharedCore> shared;
  for (const auto& [pair, count] : points) shared.push_back({pair.first, pair.second, count});
  std::vector<std::uint64_t> ids;
  for (const WindowCluster& cluster : result.earlier) ids.push_back(cluster.id);
  const auto continued = continued_clusters(shared, ids, result.clusters.size());
  for (std::size_t k = 0; k < continued.size(); ++k) {
    REQUIRE(result.clusters[k].id == (continued[k] == kNoCluster ? next++ : ids[continued[k]]));
  }
  const ClusterChanges changes(shared, ids.size(), continued.size());
  REQUIRE(result.changes.size() == changes.size());
  for (std::size_t i = 0; i < changes.size(); ++i) {
    REQUIRE(result.changes[i].kind == changes[i].kind);
    REQUIRE(std::ranges::equal(result.changes[i].before, changes[i].before));
    REQUIRE(std::ranges::equal(result.changes[i].after, changes[i].after));
  }
}

/// Checks labels and core marks against a run over the points of the window.
void check_labels(const Window& window) {
  const std::vector<double> points = window.points();
  const std::vector<double> weights = window.weights();
  if (window.size() == 0) {
    for (const WindowResult& result : window.results()) REQUIRE((result.labels.empty() && result.clusters.empty()));
    return;
  }
  std::vector<Variant> variants;
  for (const WindowResult& result : window.results()) variants.push_back(result.variant);
  const PointSet set(PointsView(std::span<const double>(points), window.dims()), window.options().metric, weights);
  const auto expected = run(set, Sweep(variants), {.threads = 1, .backend = BackendChoice::cpu}, {.core_mask = true});
  for (std::size_t v = 0; v < expected.size(); ++v) {
    const WindowResult& result = window.results()[v];
    REQUIRE(result.labels.size() == window.size());
    REQUIRE(expected[v].labels == result.labels);
    REQUIRE(expected[v].core == result.core);
    REQUIRE(expected[v].summary == result.summary);
  }
}

/// Takes random steps. Returns how many of them continued the last clustering.
std::size_t take_steps(const Stream& stream, std::size_t steps, Random& random) {
  Window window(stream.dims, stream.sweep, stream.options);
  const std::size_t pool = stream.pool.size() / stream.dims;
  std::vector<std::uint64_t> next(stream.sweep.size(), 0);
  std::size_t continued = 0;
  double clock = 0;
  std::uint64_t arrived = 0;
  for (std::size_t s = 0; s < steps; ++s) {
    const std::uint64_t way = s == 0 ? 0 : random.below(12);
    const std::size_t n = window.size();
    std::size_t arrive = way == 0 ? 20 + random.below(500) : random.below(n / 50 + 2);
    std::size_t leave = way == 1 && random.chance(0.3) ? n : random.below(n / 50 + 2);
    if (way == 2) arrive = leave = 0;
    std::vector<double> points, times, weights;
    for (std::size_t i = 0; i < arrive; ++i) {
      const std::size_t p = random.below(pool);
      points.insert(points.end(), stream.pool.begin() + static_cast<std::ptrdiff_t>(p * stream.dims),
                    stream.pool.begin() + static_cast<std::ptrdiff_t>((p + 1) * stream.dims));
      if (stream.options.timed) times.push_back(clock + random.uniform(-2, 1));
      if (stream.options.weighted) weights.push_back(static_cast<double>(random.below(8)) / 4);
    }
    clock += 0.1;
    const auto ids = window.ids();
    std::set<std::uint64_t> leaving;
    for (std::size_t i = 0; i < leave && n > 0; ++i) leaving.insert(random.chance(0.5) ? ids[i] : random.pick(ids));
    const std::vector<std::uint64_t> gone(leaving.begin(), leaving.end());
    std::vector<CoreOf> before;
    for (const WindowResult& result : window.results()) before.push_back(core_of(window, result));

    const PointsView arriving =
        points.empty() ? PointsView() : PointsView(std::span<const double>(points), stream.dims);
    const StepSummary done = window.step({.arriving = arriving, .times = times, .weights = weights, .leaving = gone});
    continued += done.from_scratch ? 0 : 1;
    REQUIRE(done.first_id == arrived);
    arrived += arrive;
    REQUIRE(window.size() == n + arrive - done.too_old - done.too_many - done.left);
    check_labels(window);
    for (std::size_t v = 0; v < before.size(); ++v) {
      const WindowResult& result = window.results()[v];
      check_ids(before[v], core_of(window, result), result, next[v]);
    }
    if (random.chance(0.05)) {
      Window restored(window.state(), stream.sweep, stream.options);
      REQUIRE(restored.ids() == window.ids());
      for (std::size_t v = 0; v < before.size(); ++v) {
        REQUIRE(restored.results()[v].labels == window.results()[v].labels);
        REQUIRE(restored.results()[v].clusters == window.results()[v].clusters);
      }
      window = std::move(restored);
    }
  }
  return continued;
}

Sweep random_sweep(double eps, Random& random) {
  std::vector<Variant> variants;
  const std::size_t count = 1 + random.below(3);
  for (std::size_t v = 0; v < count; ++v) {
    variants.push_back(
        {searchable(random.chance(0.3) ? eps * 1.5 : eps), 1 + static_cast<std::uint32_t>(random.below(9))});
  }
  return Sweep(variants);
}

std::size_t check_streams(std::uint64_t first, std::uint64_t last) {
  std::size_t continued = 0;
  for (std::uint64_t seed = first; seed < last; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    Stream stream;
    stream.dims = 1 + random.below(random.chance(0.2) ? 5 : 3);
    const DataSet data =
        make_data(random.pick(data_kinds()), 30 + random.below(400), stream.dims, Precision::float64, seed);
    stream.pool = data.doubles;
    stream.sweep = random_sweep(make_eps(data, random), random);
    stream.options.engine = {.threads = 1 + static_cast<unsigned>(random.below(3)), .backend = BackendChoice::cpu};
    stream.options.weighted = random.chance(0.1);
    if (random.chance(0.4)) {
      stream.options.timed = true;
      stream.options.max_age = random.uniform(0.5, 4);
    }
    if (random.chance(0.3)) stream.options.max_points = 1 + random.below(400);
    continued += take_steps(stream, 24, random);
  }
  return continued;
}

/// Takes steps of a stream in which as many points arrive as leave, the first or any, on several threads.
void check_many_changes(std::size_t dims, double eps, std::uint64_t seed) {
  Random random(seed);
  Window window(dims, grid({eps}, {3, 8}),
                {.max_points = 60'000, .engine = {.threads = 4, .backend = BackendChoice::cpu}});
  std::size_t continued = 0;
  for (int s = 0; s < 7; ++s) {
    const std::vector<double> points = random.uniforms((s == 0 ? 60'000 : 1100) * dims, 0, 1);
    std::vector<std::uint64_t> leaving;
    if (s % 2 == 0 && s > 0) {
      const std::vector<std::uint64_t> ids = window.ids();
      for (std::size_t i = 0; i < 1000; ++i) leaving.push_back(ids[i * 57 + random.below(57)]);
    }
    const StepSummary done =
        window.step({.arriving = PointsView(std::span<const double>(points), dims), .leaving = leaving});
    continued += done.from_scratch ? 0 : 1;
    check_labels(window);
  }
  REQUIRE(continued > 3);
}

}  // namespace

TEST_CASE("steps with many changes on several threads have the labels of a run") {
  check_many_changes(1, 2e-5, 1);
  check_many_changes(2, 0.006, 2);
  check_many_changes(3, 0.03, 3);
}

TEST_CASE("a dense cell that loses its points, one by one, is counted again") {
  Random random(5);
  Window window(2, grid({0.5}, {4, 12}), kOneThread);
  std::vector<double> points;
  for (int i = 0; i < 80; ++i) points.insert(points.end(), {random.uniform(0, 0.2), random.uniform(0, 0.2)});
  for (int i = 0; i < 900; ++i) points.insert(points.end(), {random.uniform(-6, 6), random.uniform(-6, 6)});
  (void)window.step({.arriving = PointsView(std::span<const double>(points), 2)});
  (void)window.step({});
  for (std::uint64_t id = 0; id < 80; ++id) {
    const std::uint64_t leaving[] = {id};
    const bool from_scratch = window.step({.leaving = leaving}).from_scratch;
    REQUIRE((id == 0 || !from_scratch));
    check_labels(window);
  }
}

TEST_CASE("windows on a sphere, in a periodic box and by other norms have the labels of a run") {
  struct Case {
    Metric metric;
    double eps;
    bool continues;
  };
  const std::vector<Case> cases{
      {{.kind = MetricKind::greatcircle}, 8, true},
      {{.kind = MetricKind::greatcircle, .unit = ArcUnit::kilometre, .latitude_first = true}, 900, true},
      {{.scale = {1, 3}}, 12, true},
      {{.box = {{-90, 90}, {-90, 90}}}, 7, false},
      {{.kind = MetricKind::manhattan}, 8, false},
      {{.kind = MetricKind::cosine}, 0.002, true},
  };
  for (std::size_t c = 0; c < cases.size(); ++c) {
    INFO("case " << c);
    std::size_t continued = 0;
    for (std::uint64_t seed = 0; seed < sets_of(24); ++seed) {
      Random random(100 * c + seed);
      Stream stream;
      stream.sweep = grid({cases[c].eps}, {2, 5});
      stream.options.metric = cases[c].metric;
      stream.options.engine = kOneThread.engine;
      stream.pool = random.uniforms(800, -90, 90);
      continued += take_steps(stream, 24, random);
    }
    REQUIRE((continued > 0) == cases[c].continues);
  }
}

TEST_CASE("a point far away ends continuing only as long as it is there") {
  Random random(6);
  Window window(2, grid({0.5}, {3}), {.max_points = 400, .engine = kOneThread.engine});
  std::vector<bool> from_scratch;
  for (int s = 0; s < 400; ++s) {
    std::vector<double> points;
    for (int i = 0; i < (s == 0 ? 400 : 4); ++i)
      points.insert(points.end(), {random.uniform(0, 9), random.uniform(0, 9)});
    if (s == 100) points[3] = 1e300;
    from_scratch.push_back(window.step({.arriving = PointsView(std::span<const double>(points), 2)}).from_scratch);
    check_labels(window);
  }
  REQUIRE(std::count(from_scratch.begin() + 3, from_scratch.begin() + 100, true) == 0);
  REQUIRE(from_scratch[101]);
  REQUIRE(std::count(from_scratch.end() - 100, from_scratch.end(), true) == 0);
}

/// points: 100,000 in two heaps, and one that joins them. Checks that the heaps are two clusters once it has left.
void check_heaps(const std::vector<double>& points) {
  Window window(2, grid({1.0}, {3}), kOneThread);
  (void)window.step({.arriving = PointsView(std::span<const double>(points), 2)});
  (void)window.step({});
  (void)window.step({});
  REQUIRE(window.results().front().clusters.size() == 1);
  const std::uint64_t bridge[] = {100'000};
  REQUIRE_FALSE(window.step({.leaving = bridge}).from_scratch);
  REQUIRE(window.results().front().clusters.size() == 2);
  check_labels(window);
}

TEST_CASE("two heaps of equal points are compared without all pairs") {
  std::vector<double> points;
  for (int i = 0; i < 100'000; ++i) points.insert(points.end(), {i % 2 == 0 ? 0.05 : 1.2, 0.3});
  points.insert(points.end(), {0.6, 0.3});
  check_heaps(points);
}

TEST_CASE("two slanted heaps that just miss each other are compared without all pairs") {
  std::vector<double> points;
  for (int i = 0; i < 50'000; ++i) {
    const double along = 0.3 * i / 50'000;
    points.insert(points.end(), {along, along, along + 0.7072, along - 0.7072});  // a distance of 1.0001
  }
  points.insert(points.end(), {0.5, -0.2});
  check_heaps(points);
}

TEST_CASE("a step that fails leaves the window as it was") {
  Random random(7);
  Window window(2, grid({0.3}, {4}),
                {.engine = {.memory = std::uint64_t{1} << 20, .threads = 2, .backend = BackendChoice::cpu}});
  const auto points_of = [&](std::size_t n) { return random.uniforms(2 * n, 0, 4); };
  const auto view = [](const std::vector<double>& x) { return PointsView(std::span<const double>(x), 2); };
  const std::vector<double> first = points_of(300), few = points_of(3), many = points_of(50'000);
  std::vector<double> invalid = few;
  invalid[4] = std::numeric_limits<double>::quiet_NaN();
  (void)window.step({.arriving = view(first)});
  CancelToken cancelled;
  cancelled.cancel();
  for (std::uint64_t s = 0; s < 12; ++s) {
    const WindowState before = window.state();
    const Labels labels = window.results().front().labels;
    // Rows in the middle, or the first ones, leave.
    const std::vector<std::uint64_t> ids = window.ids();
    const std::vector<std::uint64_t> leaving = s % 2 == 0 ? std::vector{ids[0], ids[1]} : std::vector{ids[5], ids[9]};
    const std::uint64_t unknown[] = {ids.back() + 1};
    REQUIRE_THROWS_AS(window.step({.arriving = view(few), .leaving = leaving}, &cancelled), Cancelled);
    REQUIRE_THROWS_AS(window.step({.arriving = view(many), .leaving = leaving}), ResourceError);
    REQUIRE_THROWS_AS(window.step({.arriving = view(invalid), .leaving = leaving}), InputError);
    REQUIRE_THROWS_AS(window.step({.arriving = view(few), .leaving = unknown}), UsageError);
    const WindowState after = window.state();
    REQUIRE(after.ids == before.ids);
    REQUIRE(after.points == before.points);
    REQUIRE(after.next_id == before.next_id);
    REQUIRE(window.results().front().labels == labels);
    (void)window.step({.arriving = view(few), .leaving = leaving});
    check_labels(window);
  }
}

TEST_CASE("times and weights that are missing, or not finite, are refused") {
  const WindowOptions options{.weighted = true, .timed = true, .engine = {.backend = BackendChoice::cpu}};
  Window window(1, grid({1.0}, {2}), options);
  const std::vector<double> x{1, 2}, good{3, 4}, one{3}, odd{3, std::numeric_limits<double>::infinity()};
  const PointsView points(std::span<const double>(x), 1);
  const auto refused = [&]<class E>(const WindowStep& step, std::string_view why, E) {
    check_error<E>({why}, [&] { (void)window.step(step); });
  };
  const UsageError usage("");
  const InputError input("");
  refused({.arriving = points, .weights = good}, "2 points arrived with 0 times", usage);
  refused({.arriving = points, .times = good, .weights = one}, "2 points arrived with 1 weights", usage);
  refused({.arriving = points, .times = odd, .weights = good}, "times: row 1 is inf", input);
  refused({.arriving = points, .times = good, .weights = odd}, "weights: row 1 is inf", input);
  refused({.now = odd[1]}, "the time of the step is inf", usage);
  REQUIRE(window.size() == 0);
  (void)window.step({.arriving = points, .times = good, .weights = good});
  REQUIRE(window.size() == 2);
}

TEST_CASE("a saved window that was changed is refused") {
  const WindowOptions options{.weighted = true, .timed = true, .engine = {.backend = BackendChoice::cpu}};
  const Sweep sweep = grid({1.0}, {2});
  Window window(1, sweep, options);
  const std::vector<double> x{1, 1.5, 7, 7.5}, times{1, 2, 3, 4}, weights{1, 1, 1, 1};
  (void)window.step({.arriving = PointsView(std::span<const double>(x), 1), .times = times, .weights = weights});
  const WindowState whole = window.state();
  REQUIRE(Window(whole, sweep, options).results().front().clusters.size() == 2);
  const auto refused = [&](const std::function<void(WindowState&)>& change) {
    WindowState state = whole;
    change(state);
    check_error<InputError>({"damaged"}, [&] { const Window restored(state, sweep, options); });
  };
  refused([](WindowState& state) { state.ids[1] = state.ids[0]; });
  refused([](WindowState& state) { state.next_id = 3; });
  refused([](WindowState& state) { state.points.pop_back(); });
  refused([](WindowState& state) { state.times[2] = std::numeric_limits<double>::quiet_NaN(); });
  refused([](WindowState& state) { state.weights[2] = std::numeric_limits<double>::quiet_NaN(); });
  refused([](WindowState& state) { state.latest = 3.5; });
  refused([](WindowState& state) { state.variants.clear(); });
  refused([](WindowState& state) { state.variants[0].clusters.pop_back(); });
  refused([](WindowState& state) { state.variants[0].clusters[1] = state.variants[0].clusters[0]; });
  refused([](WindowState& state) { state.variants[0].next = 1; });
}

TEST_CASE("every step of random streams has the labels of a run and the ids of the rule") {
  const std::uint64_t streams = sets_of(400);
  REQUIRE(check_streams(0, streams) > 3 * streams);
}

TEST_CASE("more random streams") {
  const std::uint64_t streams = sets_of(400);
  REQUIRE(check_streams(10'000, 10'000 + streams) > 3 * streams);
}

TEST_CASE("labels on a GPU are refused by a window on the CPU") {
  const WindowOptions options{.engine = {.backend = BackendChoice::cpu}, .labels = MemorySpace::device};
  check_error<UsageError>({"works on the CPU", "to the host"}, [&] {
    const Window window(2, Sweep({{1.0, 2}}), options);
  });
}

}  // namespace epsflow::test
