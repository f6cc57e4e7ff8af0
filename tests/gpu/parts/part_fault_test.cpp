// If a GPU fails in a sweep that GPUs share, an error must name it, and the next sweep must work.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/gpu.hpp"
#include "support/oracle.hpp"
#include "support/random_points.hpp"
#include "support/watchdog.hpp"

#include <epsflow/core/error.hpp>
#include <epsflow/gpu/base/fault.hpp>
#include <epsflow/parts/local_sweep.hpp>
#include <epsflow/parts/sweep.hpp>
#include <epsflow/pipeline/backends.hpp>
#include <epsflow/pipeline/engine.hpp>
#include <epsflow/pipeline/make_backend.hpp>
#include <epsflow/pipeline/sweep.hpp>
#include <epsflow/pipeline/workers.hpp>

namespace epsflow::gpu {
namespace {

const test::DataSet& points() {
  static const test::DataSet data = test::make_data("clustered", 3000, 2, Precision::float64, 11);
  return data;
}

/// Returns the number of parts: one for each GPU, or two if there is one GPU.
std::size_t part_count() { return std::max<std::size_t>(usable_gpus().size(), 2); }

/// Returns a backend for each part, each on a different GPU if there are enough.
std::vector<std::unique_ptr<Backend>> make_backends() {
  std::vector<std::unique_ptr<Backend>> backends;
  const std::vector<unsigned> gpus = usable_gpus();
  for (std::size_t p = 0; p < part_count(); ++p) {
    EngineOptions engine;
    engine.threads = 1;
    engine.gpu = gpus[p % gpus.size()];
    backends.push_back(make_backend(resolved(engine), nullptr));
  }
  return backends;
}

struct Outcome {
  std::string error;
  std::size_t right = 0;
  std::size_t wrong = 0;
};

constexpr std::size_t kVariants = 4;

/// Returns the oracle's labels of each variant.
const std::vector<VariantResult>& expected() {
  static const std::vector<VariantResult> all = [] {
    std::vector<VariantResult> results;
    for (const double eps : {points().scale, points().scale * 1.5}) {
      const test::OracleTable table = points().oracle(eps);
      for (const std::uint32_t minpts : {3U, 6U}) {
        VariantResult& result = results.emplace_back();
        result.variant = {eps, minpts};
        result.labels = test::oracle_labels(table, minpts).labels;
      }
    }
    return results;
  }();
  return all;
}

Outcome try_parts() {
  const test::Watchdog watchdog("parts with faults");
  Outcome outcome;
  const auto backends = make_backends();
  std::vector<parts::PartWorker> workers;
  for (const auto& backend : backends) workers.push_back({*backend, 1});
  const Sweep sweep = grid({points().scale, points().scale * 1.5}, {3, 6});
  try {
    parts::run_local(
        {.points = PointRows(points().view()),
         .metric = Metric{},
         .sweep = sweep,
         .parts = part_count(),
         .memory = 10 * points().size()},
        workers,
        [&](VariantResult&& r) {
          const auto same = std::ranges::find(expected(), r.variant, &VariantResult::variant);
          (same != expected().end() && r.labels == same->labels ? outcome.right : outcome.wrong) += 1;
        },
        RunOptions{}, CancelToken());
  } catch (const ResourceError& error) {
    outcome.error = error.what();
  }
  return outcome;
}

constexpr std::size_t kSharedVariants = 8;

/// The engines of a sweep whose eps they share, and points that they hand each other.
struct SharedEps {
  SharedEps() {
    test::Random random(12);
    for (double& x : points.values<double>()) x = random.uniform(0, 1);
    std::vector<double> eps;
    for (std::size_t i = 0; i < kSharedVariants; ++i) eps.push_back(0.0003 + 0.00005 * static_cast<double>(i));
    sweep = grid(eps, {4});
    const std::vector<unsigned> gpus = usable_gpus();
    for (std::size_t e = 0; e < part_count(); ++e) {
      engines.emplace_back(EngineOptions{.threads = 2, .backend = BackendChoice::gpu, .gpu = gpus[e % gpus.size()]});
    }
    expected = run(engines.front().load(points), sweep);
  }

  Points points{1'200'000, 2, Precision::float64};
  Sweep sweep;
  std::vector<Engine> engines;
  std::vector<VariantResult> expected;
};

Outcome try_shared_eps(const SharedEps& shared) {
  const test::Watchdog watchdog("shared eps with faults");
  Outcome outcome;
  const parts::SharingAnswer by_eps{parts::Sharing::eps};
  try {
    run_each({shared.points}, {.engines = shared.engines, .sharing = &by_eps}, shared.sweep, {},
             [&](VariantResult&& r) {
               const auto same = std::ranges::find(shared.expected, r.variant, &VariantResult::variant);
               (same != shared.expected.end() && r.labels == same->labels ? outcome.right : outcome.wrong) += 1;
             });
  } catch (const ResourceError& error) {
    outcome.error = error.what();
  }
  return outcome;
}

struct Faults {
  ~Faults() {
    for (const FaultPoint p : {FaultPoint::allocation, FaultPoint::launch}) inject_fault(p, 0, 0, cudaSuccess);
  }
};

struct Failures {
  std::vector<std::size_t> of_gpus;
  std::size_t all = 0;
};

/// A sweep in which a call may fail: the function that makes it, and its number of variants.
struct Attempt {
  std::function<Outcome()> make;
  std::size_t variants;
};

/// Lets a call fail in each of many sweeps, later each time. Returns the failures on each GPU and in total.
Failures fail_at(const Attempt& attempt, FaultPoint point, cudaError_t code, const std::string& name) {
  const std::vector<unsigned> gpus = usable_gpus();
  Failures failures{std::vector<std::size_t>(gpus.size(), 0)};
  for (std::uint64_t skip = 0; skip < 1000; skip += 1 + skip / 8) {
    INFO(name << " after " << skip);
    inject_fault(point, skip, 1, code);
    const Outcome outcome = attempt.make();
    inject_fault(point, 0, 0, cudaSuccess);
    REQUIRE(outcome.wrong == 0);
    if (outcome.error.empty()) {
      REQUIRE(outcome.right == attempt.variants);
      continue;
    }
    ++failures.all;
    test::check_mentions(outcome.error, {name});
    bool named = false;
    for (std::size_t g = 0; g < gpus.size(); ++g) {
      if (outcome.error.find("GPU " + std::to_string(gpus[g]) + " reports") == std::string::npos) continue;
      named = true;
      ++failures.of_gpus[g];
    }
    CHECK(named);
  }
  const Outcome after = attempt.make();
  CHECK(after.error.empty());
  CHECK(after.right == attempt.variants);
  return failures;
}

/// Lets launches and allocations fail until each GPU was hit by both.
void check_faults(const Attempt& attempt) {
  const Faults faults;
  const Failures launches = fail_at(attempt, FaultPoint::launch, cudaErrorLaunchFailure, "cudaErrorLaunchFailure");
  const Failures allocations =
      fail_at(attempt, FaultPoint::allocation, cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation");
  CHECK(launches.all > 10);
  CHECK(allocations.all > 5);
  // Calls are counted over all GPUs, so the failing GPU is random.
  for (const std::size_t of_gpu : launches.of_gpus) CHECK(of_gpu > 0);
  for (const std::size_t of_gpu : allocations.of_gpus) CHECK(of_gpu > 0);
}

TEST_CASE(
    "part faults: a launch or an allocation that fails ends the sweep with the GPU's number, and the next one works") {
  if (!test::have_gpu()) return;
  check_faults({try_parts, kVariants});
}

TEST_CASE("part faults: the same if GPUs share the eps and hand each other the points") {
  if (!test::have_gpu()) return;
  const SharedEps shared;
  check_faults({[&] { return try_shared_eps(shared); }, kSharedVariants});
}

}  // namespace
}  // namespace epsflow::gpu
