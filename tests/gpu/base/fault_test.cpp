// If a GPU fails, a run must throw a clear error, earlier results must stay valid, and the next run must work.
#include <epsflow/gpu/base/fault.hpp>

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "gpu/trap_kernel.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/gpu.hpp"
#include "support/oracle.hpp"
#include "support/random_points.hpp"
#include "support/settings.hpp"
#include "support/watchdog.hpp"

#include <epsflow/gpu/base/error.hpp>
#include <epsflow/pipeline/sweep.hpp>

namespace epsflow::gpu {
namespace {

using test::DataSet;

const DataSet& points() {
  static const DataSet data = test::make_data("clustered", 3000, 2, Precision::float64, 7);
  return data;
}

test::Settings gpu_options(Kernel kernel, FormatChoice format = FormatChoice::csr) {
  test::Settings options;
  options.engine.backend = BackendChoice::gpu;
  options.run.search.kernel = kernel;
  options.run.search.format = format;
  options.run.search.lane_pairs = 5000;
  return options;
}

const Sweep& sweep() {
  static const Sweep all = grid({points().scale, points().scale * 1.5, points().scale * 2}, {3, 6});
  return all;
}

struct Outcome {
  std::string error;
  std::size_t right = 0;
  std::size_t wrong = 0;
  std::uint64_t retries = 0;
};

/// Runs the sweep and compares the results that it delivered, also after a failure.
Outcome try_run(const test::Settings& options, const Observer& base = {}) {
  const test::Watchdog watchdog("a run with faults");
  Outcome outcome;
  Trace trace;
  Observer observer = base;
  observer.trace = &trace;
  try {
    run_each(
        points().view(), sweep(), options,
        [&](VariantResult&& r) {
          const auto expected = test::oracle_labels(points().oracle(r.variant.eps), r.variant.minpts);
          (r.labels == expected.labels ? outcome.right : outcome.wrong) += 1;
        },
        observer);
  } catch (const ResourceError& error) {
    outcome.error = error.what();
  }
  outcome.retries = trace.retries();
  return outcome;
}

struct Faults {
  ~Faults() {
    for (const FaultPoint p : {FaultPoint::allocation, FaultPoint::launch, FaultPoint::completion}) {
      inject_fault(p, 0, 0, cudaSuccess);
    }
  }
};

const std::vector<test::Settings>& paths() {
  static const std::vector<test::Settings> all{gpu_options(Kernel::rows), gpu_options(Kernel::global),
                                               gpu_options(Kernel::shared),
                                               gpu_options(Kernel::rows, FormatChoice::packed)};
  return all;
}

/// Returns the same options, and options for labels without a table.
std::vector<test::Settings> all_paths() {
  std::vector<test::Settings> all = paths();
  all.emplace_back();
  all.back().engine.backend = BackendChoice::gpu;
  all.back().run.strategy = StrategyChoice::direct;
  return all;
}

TEST_CASE("fault: a launch that fails ends the run with an error, wherever it is, and the next run works") {
  if (!test::have_gpu()) return;
  const Faults faults;
  for (const test::Settings& options : all_paths()) {
    std::size_t failed = 0;
    for (std::uint64_t skip = 0; skip < 400; skip += 1 + skip / 4) {
      INFO("launch " << skip);
      inject_fault(FaultPoint::launch, skip, 1, cudaErrorLaunchFailure);
      const Outcome outcome = try_run(options);
      inject_fault(FaultPoint::launch, 0, 0, cudaSuccess);
      REQUIRE(outcome.wrong == 0);
      if (outcome.error.empty()) {
        REQUIRE(outcome.right == sweep().size());
        continue;
      }
      ++failed;
      test::check_mentions(outcome.error, {"cudaErrorLaunchFailure", "EngineOptions::backend = BackendChoice::cpu"});
    }
    CHECK(failed > 5);
    const Outcome after = try_run(options);
    CHECK(after.error.empty());
    CHECK(after.right == sweep().size());
  }
}

TEST_CASE("fault: a GPU that fails in the middle of its work is an error that comes through the completion") {
  if (!test::have_gpu()) return;
  const Faults faults;
  for (const test::Settings& options : paths()) {
    for (const std::uint64_t skip : {0U, 1U, 3U, 8U}) {
      INFO("completion " << skip);
      inject_fault(FaultPoint::completion, skip, 1, cudaErrorECCUncorrectable);
      const Outcome outcome = try_run(options);
      inject_fault(FaultPoint::completion, 0, 0, cudaSuccess);
      REQUIRE(outcome.wrong == 0);
      test::check_mentions(outcome.error, {"cudaErrorECCUncorrectable", "variants handed out before this are valid"});
    }
  }
}

TEST_CASE("fault: where memory for a lane's buffer is refused, halves of it do; where none is left, an error says so") {
  if (!test::have_gpu()) return;
  const Faults faults;
  for (test::Settings options : paths()) {
    options.run.search.lane_pairs = 0;
    options.run.search.lanes = 1;
    // While a search begins, the buffer of a lane is the only allocation.
    std::atomic<int> searches{0};
    Observer observer;
    observer.before_stage = [&](Stage stage) {
      if (stage == Stage::find_neighbors && searches++ == 0) {
        inject_fault(FaultPoint::allocation, 0, 3, cudaErrorMemoryAllocation);
      }
    };
    const Outcome outcome = try_run(options, observer);
    INFO(outcome.error);
    CHECK(outcome.error.empty());
    CHECK(outcome.right == sweep().size());
    CHECK(outcome.retries > 0);

    searches = 0;
    observer.before_stage = [&](Stage stage) {
      if (stage == Stage::find_neighbors && searches++ == 0) {
        inject_fault(FaultPoint::allocation, 0, 1000, cudaErrorMemoryAllocation);
      }
    };
    const Outcome refused = try_run(options, observer);
    inject_fault(FaultPoint::allocation, 0, 0, cudaSuccess);
    CHECK(refused.wrong == 0);
    test::check_mentions(refused.error, {"cudaErrorMemoryAllocation", "EngineOptions::gpu_memory"});
  }
}

// This must be the last test of its process, which loses the GPU here.
TEST_CASE("fault: a GPU that is lost in the middle of a sweep is a clear error, and finished variants are kept",
          "[.][lost]") {
  if (!test::have_gpu()) return;
  std::atomic<int> emitted{0};
  Observer observer;
  observer.before_stage = [&](Stage stage) {
    if (stage == Stage::emit_results && ++emitted == 2) launch_trap();
  };
  test::Settings options = gpu_options(Kernel::rows);
  options.run.tables = 1;
  const Outcome outcome = try_run(options, observer);
  CHECK(outcome.wrong == 0);
  CHECK(outcome.right >= 2);
  test::check_mentions(outcome.error, {"GPU 0 reports", "variants handed out before this are valid",
                                       "EngineOptions::backend = BackendChoice::cpu"});
  const Outcome after = try_run(options);
  CHECK_FALSE(after.error.empty());
  // With the automatic choice, the CPU takes over and a notice reports it.
  test::Settings automatic = options;
  automatic.engine.backend = BackendChoice::automatic;
  std::string notice;
  Observer listener;
  listener.on_notice = [&](const std::string& text) { notice = text; };
  const Outcome on_cpu = try_run(automatic, listener);
  CHECK(on_cpu.error.empty());
  CHECK(on_cpu.right == sweep().size());
  test::check_mentions(notice, {"running on the CPU"});
}

}  // namespace
}  // namespace epsflow::gpu
