#include <epsflow/parts/sweep.hpp>

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/core_check.hpp"
#include "support/lineage_check.hpp"
#include "support/points_source.hpp"
#include "support/random_points.hpp"

#include <epsflow/clustering/lineage.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/parts/part_lineage.hpp>
#include <epsflow/parts/point_copies.hpp>
#include <epsflow/pipeline/backends.hpp>
#include <epsflow/pipeline/engine.hpp>
#include <epsflow/pipeline/k_distance.hpp>
#include <epsflow/pipeline/neighbors.hpp>
#include <epsflow/pipeline/plan.hpp>

namespace epsflow::parts {
namespace {

using Catch::Matchers::Contains;
using test::check_same;
using test::check_same_lineage;
using test::Random;

std::vector<EngineOptions> cpu_engines(std::size_t count) {
  EngineOptions one;
  one.backend = BackendChoice::cpu;
  one.threads = 1;
  one.memory = 1_GiB;
  return std::vector<EngineOptions>(count, one);
}

Points uniform(std::size_t n, Random& random) {
  Points points(n, 2, Precision::float64);
  for (double& x : points.values<double>()) x = random.uniform(0, 1);
  return points;
}

std::vector<VariantResult> by_variant(std::vector<VariantResult> results) {
  std::sort(results.begin(), results.end(), [](const VariantResult& a, const VariantResult& b) {
    return std::pair(a.variant.eps, a.variant.minpts) < std::pair(b.variant.eps, b.variant.minpts);
  });
  return results;
}

/// Returns the results of run_each(), by their variants.
std::vector<VariantResult> shared(const PointSet& points, const Devices& devices, const Sweep& sweep,
                                  const RunOptions& options = {}, const Observer& observer = {}) {
  std::vector<VariantResult> results;
  run_each(
      points, devices, sweep, options, [&](VariantResult&& result) { results.push_back(std::move(result)); }, observer);
  return by_variant(std::move(results));
}

/// Returns the clusters of a sweep on some engines, tied to each other.
Lineage lineage_of(const PointSet& points, const Devices& devices, const Sweep& sweep, const RunOptions& options) {
  LineageBuilder builder(sweep);
  run_each(points, devices, sweep, options, [&](VariantResult&& result) { builder.add(result); });
  return builder.finish();
}

Sweep sweep_of(std::size_t eps) {
  std::vector<double> radii;
  for (std::size_t i = 1; i <= eps; ++i) radii.push_back(0.004 * static_cast<double>(i));
  return grid(radii, {3, 6});
}

}  // namespace

TEST_CASE("shared sweeps: how a sweep is shared, by counts alone") {
  const SharingQuestion two{.engines = 2, .eps = 1, .points = 10'000'000, .bytes = 80'000'000};
  const auto of = [&](auto&& change, const RunOptions& run = {}) {
    SharingQuestion question = two;
    change(question);
    return choose_sharing(question, run).sharing;
  };
  CHECK(of([](auto& q) { q.engines = 1; }) == Sharing::one);
  CHECK(of([](auto&) {}) == Sharing::one);
  CHECK(of([](auto& q) { q.eps = 3; }) == Sharing::eps);
  // The whole sweep needs 600 MB, or 680 MB in parts.
  CHECK(of([](auto& q) { q.eps = 4, q.device_memory = 420'000'000; }) == Sharing::parts);
  const auto parts_of = [](std::size_t engines, std::uint64_t memory) {
    return choose_sharing({.engines = engines, .points = 10'000'000, .bytes = 80'000'000, .device_memory = memory}, {})
        .parts;
  };
  CHECK(parts_of(2, 420'000'000) == 2);
  CHECK(parts_of(2, 300'000'000) == 6);
  CHECK(parts_of(1, 590'000'000) == 3);
  CHECK(parts_of(2, 370'000'000) > 2);  // parts must also leave room for ghosts on each device
  CHECK(of([](auto& q) { q.engines = 1, q.device_memory = 590'000'000; }) == Sharing::parts);
  CHECK(of([](auto& q) { q.engines = 1, q.device_memory = 590'000'000; }, {.verify = true}) == Sharing::one);
  CHECK(of([](auto& q) { q.eps = 4, q.device_memory = 600'000'000; }) == Sharing::eps);
  CHECK(of([](auto& q) { q.weights = true; }) == Sharing::one);
  CHECK(of([](auto& q) { q.weights = true, q.eps = 2; }) == Sharing::eps);
  // With weights the sweep needs 920 MB.
  CHECK(of([](auto& q) { q.eps = 4, q.device_memory = 720'000'000, q.weights = true; }) == Sharing::parts);
  CHECK(of([](auto&) {}, {.verify = true}) == Sharing::one);
  CHECK(of([](auto&) {}, {.keep = Keep::summary}) == Sharing::one);
  CHECK(of([](auto&) {}, {.keep = Keep::core}) == Sharing::one);
  CHECK(of([](auto& q) { q.engines = 1, q.device_memory = 590'000'000; }, {.keep = Keep::summary}) == Sharing::parts);
  CHECK(of([](auto& q) { q.eps = 3; }, {.strategy = StrategyChoice::table}) == Sharing::eps);

  const auto cut = [&](std::size_t engines, std::size_t eps, std::uint64_t points = 40'000'000,
                       const RunOptions& run = {}) {
    const SharingAnswer answer = choose_sharing(
        {.engines = engines, .eps = eps, .points = points, .bytes = 8 * points, .cut_by_devices = true}, run);
    return answer.sharing == Sharing::parts && answer.parts == engines;
  };
  CHECK(cut(2, 1));
  CHECK(cut(8, 1));
  CHECK(cut(8, 6));
  CHECK(cut(2, 3));
  CHECK_FALSE(cut(1, 1));
  CHECK_FALSE(cut(2, 2));
  CHECK_FALSE(cut(2, 15));
  CHECK_FALSE(cut(8, 7));
  CHECK_FALSE(cut(2, 1, 30'000'000));
  CHECK_FALSE(cut(2, 1, 40'000'000, {.verify = true}));
}

TEST_CASE("shared sweeps: devices cut many points in a space without a box, each on a GPU of its own") {
  EngineOptions engine;
  engine.backend = BackendChoice::gpu;
  std::vector<EngineOptions> two(2, engine);
  two[0].gpu = 0;
  two[1].gpu = 1;
  const Points points(34'000'000, 2,
                      Precision::float32);  // too few bytes to query a GPU's memory; values are not used
  const Sweep sweep = grid({0.1}, {5});
  const auto how = [&](const PointRows& rows, const Metric& metric, std::span<const EngineOptions> engines,
                       const RunOptions& run = {}) {
    return choose_sharing({rows, metric}, sweep, engines, run).sharing;
  };
  CHECK(how(points, {}, two) == Sharing::parts);
  CHECK(choose_sharing({points}, sweep, two, {}).fits_one);
  Metric box;
  box.box = {{0.0, 1.0}, {0.0, 1.0}};
  CHECK(how(points, box, two) == Sharing::one);
  CHECK(how(points, {}, std::vector(2, two.front())) == Sharing::one);
  CHECK(how(points, {}, two, {.search = {.index = IndexChoice::tree}}) == Sharing::one);
}

TEST_CASE("shared sweeps: points that the CPU cannot cluster within its memory at once") {
  const SharingQuestion question{.points = 1'000'000, .bytes = 16'000'000, .host = true, .levels = 2};
  const auto of = [&](std::uint64_t memory, const RunOptions& run = {}) {
    SharingQuestion asked = question;
    asked.device_memory = memory;
    return choose_sharing(asked, run);
  };
  // The sweep needs 80 MB in addition to the points.
  CHECK(of(0).sharing == Sharing::one);
  CHECK(of(96'000'000).sharing == Sharing::one);
  CHECK(of(95'000'000).sharing == Sharing::parts);
  CHECK(of(60'000'000).parts > of(95'000'000).parts);
  CHECK(of(60'000'000, {.keep = Keep::summary}).parts < of(60'000'000).parts);
  CHECK(of(60'000'000, {.verify = true}).sharing == Sharing::one);
  CHECK(of(20'000'000).sharing == Sharing::one);  // the run throws an error with the size that it needs
  CHECK(of(28'200'000).sharing == Sharing::one);  // hundreds of parts would be needed

  Random random(24);
  const Points points = uniform(100'000, random);
  const Sweep sweep = grid({0.004, 0.008}, {2, 4, 9});
  const RunOptions options{.core_mask = true};
  EngineOptions small = cpu_engines(1).front();
  const auto expected = by_variant(run(points, sweep, small, options));
  small.memory = 8'000'000;
  const std::vector<EngineOptions> engines{small};
  const SharingAnswer answer = choose_sharing({points}, sweep, engines, options);
  CHECK(answer.sharing == Sharing::parts);
  CHECK(answer.parts > 2);
  check_same(shared(points, {.options = engines}, sweep, options), expected);
  // Each part has ghosts on all sides, so parts need more memory than all points. Runs succeed or report their need.
  const Sweep wide = grid({0.3}, {4});
  const SharingAnswer in_parts{.sharing = Sharing::parts, .parts = 6};
  std::vector<EngineOptions> tight = engines;
  tight.front().memory = 4'000'000;
  CHECK_THROWS_WITH(run_each({points}, {.options = tight, .sharing = &in_parts}, wide, options,
                             [](VariantResult&&) { FAIL("a result"); }),
                    Contains("memory budget") && Contains("EngineOptions::memory"));
  const auto found = shared(points, {.options = engines, .sharing = &in_parts}, wide, options);
  REQUIRE(found.size() == 1);
  CHECK(found.front().summary == run(points, wide, cpu_engines(1).front(), options).front().summary);
  // The same holds for a box that is too narrow for parts.
  Metric box;
  box.box = {{0.0, 1.0}, {0.0, 1.0}};
  tight.front().memory = 10'000'000;
  CHECK(shared({points, box}, {.options = tight, .sharing = &in_parts}, wide, options).size() == 1);
}

TEST_CASE("shared sweeps: eps over engines, without weights and with them") {
  Random random(17);
  const Points points = uniform(3000, random);
  const Sweep sweep = sweep_of(9);
  const RunOptions options{.verify = true, .core_mask = true};
  const Dataset whole = Engine(cpu_engines(1).front()).load(points);
  for (const auto& weights : {std::vector<double>(), random.uniforms(points.size(), 0, 3)}) {
    const auto expected = by_variant(run(weights.empty() ? whole : whole.weighted(weights), sweep, options));
    for (const std::size_t engines : {1U, 2U, 5U, 16U}) {
      check_same(shared({points, {}, weights}, {.options = cpu_engines(engines)}, sweep, options), expected);
    }
  }
}

TEST_CASE("shared sweeps: GPUs that share the eps hand each other the points") {
  const std::vector<unsigned> gpus = usable_gpus();
  if (gpus.empty()) {
    WARN("skipped: no GPU");
    return;
  }
  Random random(19);
  const Points points = uniform(1'500'000, random);
  std::vector<Engine> engines, of_first;
  for (const std::size_t g : {0U, 1U, 2U}) {
    engines.emplace_back(EngineOptions{.threads = 2, .backend = BackendChoice::gpu, .gpu = gpus[g % gpus.size()]});
    of_first.emplace_back(EngineOptions{.threads = 2, .backend = BackendChoice::gpu, .gpu = gpus.front()});
  }
  CancelToken stop;
  // Different GPUs may be unable to read each other's memory.
  const std::vector<PointsCopy> copies = copy_to_gpus(points, of_first, stop);
  REQUIRE(copies.size() == of_first.size());
  for (const PointsCopy& copy : copies) CHECK(copy.points.size() == points.size());
  CHECK(copy_to_gpus(points, std::span(of_first).first(1), stop).empty());
  CHECK(copy_to_gpus(points.view().rows(0, 1000), of_first, stop).empty());

  const Sweep sweep = grid({0.0004, 0.0005, 0.0006, 0.0007, 0.001}, {4, 6});
  const SharingAnswer by_eps{Sharing::eps, "asked for", 1};
  check_same(shared(points, {.engines = engines, .sharing = &by_eps}, sweep, {.core_mask = true}),
             by_variant(run(engines.front().load(points), sweep, {.core_mask = true})));
}

TEST_CASE("shared sweeps: clusters of eps that different engines have made are tied to each other") {
  Random random(19);
  const Points points = uniform(2000, random);
  const Sweep sweep = sweep_of(8);
  const RunOptions options{.clusters = true};
  const Lineage expected = lineage_of(points, {.options = cpu_engines(1)}, sweep, options);
  check_same_lineage(lineage_of(points, {.options = cpu_engines(3)}, sweep, options), expected);
  for (const Keep keep : {Keep::labels, Keep::summary}) {
    for (const std::size_t parts : {2U, 6U}) {
      const SharingAnswer how{.sharing = Sharing::parts, .parts = parts};
      const RunOptions in_parts{.keep = keep, .clusters = true};
      check_same_lineage(lineage_of(points, {.options = cpu_engines(2), .sharing = &how}, sweep, in_parts), expected);
    }
  }
}

TEST_CASE("shared sweeps: parts of space for engines, and in turns") {
  Random random(20);
  const Points points = uniform(5000, random);
  const std::vector<double> weights = random.uniforms(points.size(), 0, 3);
  const Sweep sweep = sweep_of(3);
  const RunOptions options{.core_mask = true}, counts{.keep = Keep::summary};
  const Dataset whole = Engine(cpu_engines(1).front()).load(points);
  for (const bool weighted : {false, true}) {
    const Dataset loaded = weighted ? whole.weighted(weights) : whole;
    const auto expected = by_variant(run(loaded, sweep, options)), counted = by_variant(run(loaded, sweep, counts));
    for (const auto& [engines, parts] : {std::pair(2U, 2U), std::pair(1U, 4U), std::pair(3U, 12U)}) {
      const SharingAnswer how{.sharing = Sharing::parts, .parts = parts};
      const std::vector<EngineOptions> on = cpu_engines(engines);
      const PointSet given{points, {}, weighted ? std::span<const double>(weights) : std::span<const double>()};
      check_same(shared(given, {.options = on, .sharing = &how}, sweep, options), expected);
      check_same(shared(given, {.options = on, .sharing = &how}, sweep, counts), counted);
    }
  }
  CHECK_THROWS_WITH(run_each({points, {}, std::span<const double>(weights).first(10)}, {.options = cpu_engines(2)},
                             sweep, {}, [](VariantResult&&) {}),
                    Contains("5,000 points and 10 weights"));
}

TEST_CASE("shared sweeps: parts that do not fit a GPU become more") {
  if (usable_gpus().empty()) {
    WARN("skipped: no GPU");
    return;
  }
  Random random(23);
  const Points points = uniform(2'000'000, random);
  const Sweep sweep = grid({0.0006, 0.0008}, {2, 4});
  EngineOptions small;
  small.backend = BackendChoice::gpu;
  small.gpu_memory = 64_MiB;
  const SharingAnswer how{.sharing = Sharing::parts, .parts = 2};
  const std::vector<EngineOptions> engines{small};
  const Devices devices{.options = engines, .sharing = &how};
  const EngineOptions cpu = cpu_engines(1).front();
  check_same(shared(points, devices, sweep), by_variant(run(points, sweep, cpu)));

  const std::vector<double> weights = random.uniforms(points.size(), -0.5, 2);
  const Dataset weighted = Engine(cpu).load(points).weighted(weights);
  check_same(shared({points, {}, weights}, devices, sweep), by_variant(run(weighted, sweep)));

  const RunOptions counts{.keep = Keep::summary};
  check_same(shared(points, devices, sweep, counts), by_variant(run(points, sweep, cpu, counts)));

  const RunOptions tied{.keep = Keep::summary, .clusters = true};
  check_same_lineage(lineage_of(points, devices, sweep, tied),
                     lineage_of(points, {.options = cpu_engines(1)}, sweep, tied));
}

TEST_CASE("shared sweeps: more parts than threads are sensible for are an error") {
  Random random(26);
  const Points points = uniform(100, random);
  const SharingAnswer how{.sharing = Sharing::parts, .parts = 1000};
  CHECK_THROWS_WITH(
      run_each({points}, {.options = cpu_engines(1), .sharing = &how}, sweep_of(1), {}, [](VariantResult&&) {}),
      Contains("1,000 parts") && Contains("256"));
}

TEST_CASE("shared sweeps: what lacks room for results or in the caller's progress is not tried again") {
  Random random(24);
  const Points points = uniform(500, random);
  const Sweep sweep = sweep_of(3);
  for (const bool in_progress : {false, true}) {
    for (const bool fits_one : {false, true}) {
      const SharingAnswer how{.sharing = Sharing::parts, .parts = 2, .fits_one = fits_one};
      for (const std::size_t last : {std::size_t{1}, sweep.size()}) {
        CAPTURE(in_progress, fits_one, last);
        std::size_t results = 0;
        const auto take = [&](VariantResult&&) {
          if (++results == last && !in_progress) throw ResourceError("no room");
        };
        const auto show = [&](const Progress& p) {
          if (p.variants_done == last && in_progress) throw ResourceError("no room");
        };
        CHECK_THROWS_WITH(
            run_each({points}, {.options = cpu_engines(1), .sharing = &how}, sweep, {}, take, {.on_progress = show}),
            "no room");
        CHECK(results == last);
      }
    }
  }
}

TEST_CASE("shared sweeps: slices go to several engines eps by eps") {
  Random random(28);
  const Points points = uniform(3000, random);
  const std::vector<std::uint64_t> slices{0, 1000, 1000, 2400, 3000};
  const Sweep sweep = sweep_of(5);
  const auto swept = [&](std::size_t engines, const RunOptions& options, const SharingAnswer* how) {
    return shared({points, {}, {}, slices}, {.options = cpu_engines(engines), .sharing = how}, sweep, options);
  };
  for (const RunOptions& options : {RunOptions{.core_mask = true}, RunOptions{.keep = Keep::summary}}) {
    const Dataset loaded = Engine(cpu_engines(1).front()).load(points, slices);
    const std::vector<VariantResult> expected = by_variant(run(loaded, sweep, options));
    for (const std::size_t engines : {1, 3}) {
      const std::vector<VariantResult> found = swept(engines, options, nullptr);
      check_same(found, expected);
      for (std::size_t v = 0; v < found.size(); ++v) CHECK(found[v].slices == expected[v].slices);
    }
  }
  const SharingAnswer in_parts{.sharing = Sharing::parts, .parts = 2};
  CHECK_THROWS_WITH(swept(1, {}, &in_parts), Contains("a data set for each slice is not to be had of points in parts"));
  // Slices are never cut into parts, however small the memory is.
  CHECK(choose_sharing(
            {.points = 1'000'000, .bytes = 16'000'000, .device_memory = 95'000'000, .slices = true, .host = true}, {})
            .sharing == Sharing::one);
}

TEST_CASE("shared sweeps: what an engine has loaded is swept by it, with all that belongs to it") {
  Random random(29);
  const Points points = uniform(2000, random);
  const std::vector<double> weights = random.uniforms(points.size(), 0.5, 2);
  const Sweep sweep = sweep_of(3);
  const Dataset data = Engine(cpu_engines(1).front()).load(points).weighted(weights);
  check_same(shared(data, {}, sweep), by_variant(run(data, sweep)));
  // If no engine is given, the run uses one with the default options.
  check_same(shared({points, {}, weights}, {}, sweep), by_variant(run(data, sweep)));
  // Conflicting options are refused.
  const auto take = [](VariantResult&&) { FAIL("a result"); };
  const std::vector<std::uint64_t> slices{0, 2000};
  const std::vector<EngineOptions> options = cpu_engines(1);
  const std::vector<Engine> engines{Engine(options.front())};
  const SharingAnswer how;
  const Partition cuts;
  CHECK_THROWS_WITH(run_each({data}, {.options = options}, sweep, {}, take), Contains("leave Devices empty"));
  CHECK_THROWS_WITH(run_each({data}, {.sharing = &how}, sweep, {}, take), Contains("leave Devices empty"));
  PointSet weighed = data, sliced = data, measured = data;
  weighed.weights = weights;
  sliced.slices = slices;
  measured.metric.kind = MetricKind::manhattan;
  CHECK_THROWS_WITH(run_each(weighed, {}, sweep, {}, take), Contains("Dataset::weighted()"));
  CHECK_THROWS_WITH(run_each(sliced, {}, sweep, {}, take), Contains("Engine::load()"));
  CHECK_THROWS_WITH(run_each(measured, {}, sweep, {}, take), Contains("PointSet::metric"));
  for (const PointSet& twice : {weighed, sliced, measured}) {
    CHECK_THROWS_WITH(run(twice, sweep), Contains("loaded by an engine"));
    CHECK_THROWS_WITH(plan(twice, sweep), Contains("loaded by an engine"));
    CHECK_THROWS_WITH(neighbors(twice, 0.1), Contains("loaded by an engine"));
    CHECK_THROWS_WITH(k_distances(twice, 2), Contains("loaded by an engine"));
  }
  CHECK_THROWS_WITH(run_each({points}, {.engines = engines, .options = options}, sweep, {}, take),
                    Contains("Devices::options are in place of Devices::engines"));
  CHECK_THROWS_WITH(run_each({points}, {.cuts = &cuts}, sweep, {}, take), Contains("Devices::ranks is null"));
  CHECK_THROWS_AS(choose_sharing({data}, sweep, options, {}), UsageError);
}

TEST_CASE(
    "shared sweeps: by engines that stay, of points that are brought, with weights, eps by eps, and their lineage") {
  Random random(30);
  const Points points = uniform(3000, random);
  const std::vector<double> weights = random.uniforms(points.size(), 0.5, 2);
  const PointsSource source = test::source_of(points);
  const Sweep sweep = sweep_of(5);
  std::vector<Engine> engines;
  for (const EngineOptions& options : cpu_engines(2)) engines.emplace_back(options);
  const auto expected = by_variant(run(engines.front().load(points).weighted(weights), sweep));
  for (int again = 0; again < 2; ++again) {
    Trace trace;
    check_same(shared({source, {}, weights}, {.engines = engines}, sweep, {}, {.trace = &trace}), expected);
    const auto spans = trace.spans();
    CHECK(std::ranges::count(spans, Stage::load_points, &TraceSpan::stage) == 2);
    CHECK(std::ranges::count(spans, Stage::emit_results, &TraceSpan::stage) == std::ssize(expected));
  }
  const Lineage whole = epsflow::lineage(engines.front().load(points).weighted(weights), sweep);
  check_same_lineage(lineage({source, {}, weights}, {.engines = engines}, sweep), whole);
}

TEST_CASE("shared sweeps: what fails or is cancelled ends all engines") {
  Random random(21);
  const Points points = uniform(2000, random);
  const Sweep sweep = sweep_of(9);
  const auto engines = cpu_engines(3);
  const auto fail = [](VariantResult&&) { throw std::runtime_error("no room"); };
  CHECK_THROWS_WITH(run_each({points}, {.options = engines}, sweep, {}, fail), "no room");
  CancelToken cancel;
  std::size_t taken = 0;
  const auto take = [&](VariantResult&&) {
    ++taken;
    cancel.cancel();
  };
  CHECK_THROWS_AS(run_each({points}, {.options = engines}, sweep, {}, take, {.cancel = &cancel}), Cancelled);
  CHECK(taken < sweep.size());
}

TEST_CASE("shared sweeps: points that are not in memory") {
  SharingQuestion question{.points = 1'000'000, .bytes = 16'000'000, .device_memory = 28'200'000, .host = true};
  CHECK(choose_sharing(question, {}).sharing == Sharing::one);  // the run throws an error with the size that it needs
  question.in_memory = false;
  CHECK(choose_sharing(question, {}).sharing == Sharing::parts);

  Random random(27);
  Points points = uniform(100'000, random);
  const Sweep sweep = grid({0.001, 0.002}, {1, 2});
  const RunOptions options{.core_mask = true};
  EngineOptions small = cpu_engines(1).front();
  const auto expected = by_variant(run(points, sweep, small, options));
  const auto expected_in_box =
      by_variant(run(Engine(small).load(points, {.box = {{0.0, 1.0}, {0.0, 1.0}}}), sweep, options));
  small.memory = 2'750'000;
  const PointsSource source = test::source_of(points);
  // If the points are in memory, the rest of the budget is too small for parts. If they are not, parts fit.
  CHECK(choose_sharing({points}, sweep, std::vector{small}, options).sharing == Sharing::one);
  CHECK(choose_sharing({source}, sweep, std::vector{small}, options).sharing == Sharing::parts);
  check_same(shared(source, {.options = std::vector{small}}, sweep, options), expected);
  // If the points fit into memory or a box transforms them, they are loaded.
  check_same(shared(source, {.options = cpu_engines(1)}, sweep, options), expected);
  check_same(shared({source, {.box = {{0.0, 1.0}, {0.0, 1.0}}}}, {.options = cpu_engines(2)}, sweep, options),
             expected_in_box);
  points.values<double>()[2 * 65'432 + 1] = std::numeric_limits<double>::infinity();
  CHECK_THROWS_WITH(shared(source, {.options = std::vector{small}}, sweep, options), Contains("row 65432"));
}

TEST_CASE("shared sweeps: a bad coordinate is named by its row among all") {
  Random random(25);
  Points points = uniform(5000, random);
  points.values<double>()[2 * 3500 + 1] = std::numeric_limits<double>::quiet_NaN();
  const auto take = [](VariantResult&&) {};
  for (const Sharing sharing : {Sharing::eps, Sharing::parts}) {
    const SharingAnswer how{.sharing = sharing, .parts = 4};
    CHECK_THROWS_WITH(run_each({points}, {.options = cpu_engines(2), .sharing = &how}, sweep_of(3), {}, take),
                      Contains("row 3500"));
    CHECK_THROWS_WITH(
        run_each({points, {.scale = {2, 3}}}, {.options = cpu_engines(2), .sharing = &how}, sweep_of(3), {}, take),
        Contains("row 3500"));
  }
  // Two GPUs, or one GPU used as two, cut the points.
  const std::vector<unsigned> gpus = usable_gpus();
  if (gpus.empty()) return;
  std::vector<EngineOptions> two(2, EngineOptions{.backend = BackendChoice::gpu});
  two[0].gpu = gpus.front();
  two[1].gpu = gpus.back();
  const SharingAnswer how{.sharing = Sharing::parts, .parts = 2};
  CHECK_THROWS_WITH(run_each({points}, {.options = two, .sharing = &how}, sweep_of(3), {}, take), Contains("row 3500"));
}

TEST_CASE("shared sweeps: progress counts the variants of all engines") {
  Random random(22);
  const Points points = uniform(500, random);
  const Sweep sweep = sweep_of(6);
  std::vector<std::size_t> done;
  run_each({points}, {.options = cpu_engines(2)}, sweep, {}, [](VariantResult&&) {},
           {.on_progress = [&](const Progress& p) {
             CHECK(p.variants == sweep.size());
             done.push_back(p.variants_done);
           }});
  CHECK(std::ranges::is_sorted(done));
  CHECK(done.back() == sweep.size());
}

TEST_CASE("shared sweeps: lists of GPUs") {
  CHECK(engines_on({}, {}).size() == 1);
  for (const char* list : {"x", "0,", ",", "0;1", "-1", "0,,1", "0 1", "99999", "ALL"}) {
    CAPTURE(list);
    CHECK_THROWS_WITH(engines_on({.gpus = list}, {}), Contains("give all, or numbers of GPUs as in 0,1"));
  }
  EngineOptions cpu;
  cpu.backend = BackendChoice::cpu;
  CHECK_THROWS_WITH(engines_on({.gpus = "all"}, cpu), Contains("leave one of them out"));
  EngineOptions first;
  first.gpu = 0;
  CHECK_THROWS_WITH(engines_on({.gpus = "0"}, first), Contains("not both"));
  const auto gpus = usable_gpus();
  if (gpus.empty()) {
    CHECK_THROWS_WITH(engines_on({.gpus = "all"}, {}), Contains("no GPU can be used"));
    return;
  }
  CHECK(engines_on({.gpus = "all"}, {}).size() == gpus.size());
  const std::string twice = std::to_string(gpus.front()) + "," + std::to_string(gpus.front());
  const auto halves = engines_on({.gpus = twice}, {.memory = 8_GiB, .threads = 6, .gpu_memory = 4_GiB});
  REQUIRE(halves.size() == 2);
  for (const EngineOptions& half : halves) {
    CHECK(half.memory == 4_GiB);
    CHECK(half.threads == 3);
    CHECK(half.gpu_memory == 2_GiB);
    CHECK(half.gpu == gpus.front());
  }
}

}  // namespace epsflow::parts
