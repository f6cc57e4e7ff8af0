#include <epsflow/pipeline/backends.hpp>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/errors.hpp"

#include <epsflow/core/metric.hpp>
#include <epsflow/pipeline/neighbors.hpp>
#include <epsflow/pipeline/plan.hpp>
#include <epsflow/pipeline/sweep.hpp>

namespace epsflow::test {
namespace {

constexpr std::uint64_t kMany = 1'000'000;

TEST_CASE("choose backend: what is asked for is taken, left open the points decide") {
  const auto choose = [](std::uint64_t n, const EngineOptions& engine, const RunOptions& run = {},
                         BackendChoice preferred = BackendChoice::automatic) {
    return choose_backend(n, 2, {}, engine, run, preferred);
  };
  for (const BackendChoice choice : {BackendChoice::cpu, BackendChoice::gpu}) {
    CHECK(choose(10, {.backend = choice}) == choice);
    CHECK(choose(kMany, {.backend = choice}) == choice);
  }
  CHECK(choose(10, {}) == BackendChoice::cpu);
  CHECK(choose(31'000, {}) == BackendChoice::cpu);
  CHECK(choose(32'000, {}) == BackendChoice::automatic);
  CHECK(choose(4'000'000'000, {}) == BackendChoice::automatic);
  CHECK(choose_backend(31'000, 20, {}, {}) == BackendChoice::automatic);
  const RunOptions decided{.search = {.decide = DecideChoice::scalar}};
  const RunOptions by_kernel{.search = {.kernel = Kernel::shared}};
  const RunOptions left{.labels = MemorySpace::device};
  for (const auto& [engine, run] : std::vector<std::pair<EngineOptions, RunOptions>>{
           {{.gpu = 0}, {}}, {{.gpu_memory = 1_GiB}, {}}, {{}, decided}, {{}, by_kernel}, {{}, left}}) {
    CHECK(choose(10, engine, run) == BackendChoice::automatic);
    CHECK(choose(10, engine, run, BackendChoice::cpu) == BackendChoice::automatic);
  }
  CHECK(choose(10, {}, {}, BackendChoice::gpu) == BackendChoice::automatic);
  CHECK(choose(kMany, {}, {}, BackendChoice::cpu) == BackendChoice::cpu);
}

TEST_CASE("choose backend: powers of minkowski are the CPU's") {
  const Space powers = transformed_space({.kind = MetricKind::minkowski, .power = 3});
  const Space squares = transformed_space({.kind = MetricKind::minkowski, .power = 2});
  CHECK(choose_backend(kMany, 2, powers, {}) == BackendChoice::cpu);
  CHECK(choose_backend(kMany, 2, powers, {}, {}, BackendChoice::gpu) == BackendChoice::cpu);
  CHECK(choose_backend(kMany, 2, powers, {.backend = BackendChoice::gpu}) == BackendChoice::gpu);
  CHECK(choose_backend(kMany, 2, squares, {}) == BackendChoice::automatic);
}

TEST_CASE("choose backend: the environment says what is preferred") {
  const char* const before = std::getenv("EPSFLOW_BACKEND");
  const std::string previous = before == nullptr ? "" : before;
  const auto with = [](const char* word) {
    setenv("EPSFLOW_BACKEND", word, 1);
    return preferred_backend();
  };
  CHECK(with("") == BackendChoice::automatic);
  CHECK(with("auto") == BackendChoice::automatic);
  CHECK(with("cpu") == BackendChoice::cpu);
  CHECK(with("gpu") == BackendChoice::gpu);
  setenv("EPSFLOW_BACKEND", "GPU", 1);
  check_error<UsageError>({"EPSFLOW_BACKEND is 'GPU'", "auto, cpu, gpu"}, [] { (void)preferred_backend(); });
  setenv("EPSFLOW_BACKEND", previous.c_str(), 1);
}

TEST_CASE("choose backend: runs of points take a metric, minkowski too") {
  const std::vector<double> at{0, 0, 1, 1, 5, 5};
  const PointsView points(at, 2);
  const Metric cubes{.kind = MetricKind::minkowski, .power = 3};
  const double eps = 1.26;  // the cube root of 2 is 1.2599
  CHECK(run({points, cubes}, grid({eps}, {2})).front().labels == std::vector<std::int32_t>{0, 0, -1});
  CHECK(run({points, cubes}, grid({1.25}, {2})).front().labels == std::vector<std::int32_t>{-1, -1, -1});
  CHECK(run(points, grid({eps}, {2})).front().labels == std::vector<std::int32_t>{-1, -1, -1});
  CHECK(neighbors({points, cubes}, eps).pairs() == 5);
  CHECK(plan({points, cubes}, grid({eps}, {2})).size() == 1);
  CHECK_THROWS_AS(run({points, {.kind = MetricKind::minkowski, .power = 0.5}}, grid({eps}, {2})), UsageError);
}

}  // namespace
}  // namespace epsflow::test
