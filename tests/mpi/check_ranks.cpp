// Compares sweeps over MPI processes with sweeps in one process; run it with mpirun. The last line has the counts.
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "support/random_points.hpp"

#include <epsflow/core/error.hpp>
#ifdef EPSFLOW_WITH_CUDA
#include <epsflow/gpu/base/fault.hpp>
#endif
#include <epsflow/mpi/mpi_ranks.hpp>
#include <epsflow/parts/part_lineage.hpp>
#include <epsflow/parts/sweep.hpp>
#include <epsflow/pipeline/backends.hpp>
#include <epsflow/pipeline/engine.hpp>
#include <epsflow/pipeline/sweep.hpp>

namespace {

using namespace epsflow;

/// If there are GPUs, ranks use different ones as far as possible.
EngineOptions engine_of(const parts::Communicator& communicator) {
  EngineOptions engine{.threads = 1};
  const std::vector<unsigned> gpus = usable_gpus();
  if (!gpus.empty()) engine.gpu = gpus[static_cast<std::size_t>(communicator.rank()) % gpus.size()];
  return engine;
}

/// Returns true if this rank's rows have the labels, masks and counts of one run over all points.
bool agrees(parts::Communicator& communicator, const test::DataSet& data, const Metric& metric, const Sweep& sweep,
            test::Random& random, std::span<const double> weights = {}) {
  std::vector<std::size_t> ends{0, data.size()};
  for (int r = 1; r < communicator.size(); ++r) ends.push_back(random.below(data.size() + 1));
  std::sort(ends.begin(), ends.end());
  const auto first = ends[static_cast<std::size_t>(communicator.rank())],
             last = ends[static_cast<std::size_t>(communicator.rank()) + 1];
  const EngineOptions engine = engine_of(communicator);
  const RunOptions options{.core_mask = true};
  const Dataset points = Engine(engine).load(data.view(), metric);
  const std::vector<VariantResult> whole = run(weights.empty() ? points : points.weighted(weights), sweep, options);
  bool same = true;
  std::size_t found = 0;
  run_each({data.view().rows(first, last), metric, weights.empty() ? weights : weights.subspan(first, last - first)},
           {.options = {&engine, 1}, .ranks = &communicator}, sweep, options, [&](VariantResult&& result) {
             for (const VariantResult& expected : whole) {
               if (expected.variant.eps != result.variant.eps || expected.variant.minpts != result.variant.minpts)
                 continue;
               ++found;
               same = same && expected.summary == result.summary && result.labels.size() == last - first;
               for (std::size_t i = first; same && i < last; ++i) {
                 same = result.labels[i - first] == expected.labels[i] && result.core[i - first] == expected.core[i];
               }
             }
           });
  return same && found == whole.size();
}

int check_all(parts::Communicator& communicator) {
  int passed = 0, failed = 0;
  const auto count = [&](bool good, const std::string& what) {
    const bool everywhere = communicator.sum(good ? std::uint64_t{0} : 1) == 0;
    ++(everywhere ? passed : failed);
    if (!everywhere && communicator.rank() == 0) std::printf("failed: %s\n", what.c_str());
  };
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    test::Random random(seed);
    const std::vector<std::string> kinds{"uniform", "clustered", "quantised", "duplicates", "collinear"};
    const test::DataSet data = test::make_data(random.pick(kinds), random.below(2000), 1 + random.below(4),
                                               random.chance(0.5) ? Precision::float32 : Precision::float64, seed);
    const double e = data.scale;
    count(agrees(communicator, data, {}, grid({0.3 * e, e}, {1, 2, 4, 9}), random), "seed " + std::to_string(seed));
    std::vector<double> weights(data.size());
    for (double& w : weights) w = random.uniform(seed % 3 == 0 ? -0.5 : 0, 2);
    count(agrees(communicator, data, {}, grid({0.3 * e, e}, {1, 2, 4, 9}), random, weights),
          "weights, seed " + std::to_string(seed));
  }
  test::DataSet box;
  box.dims = 2;
  test::Random random(1);
  for (int i = 0; i < 4000; ++i) box.doubles.push_back(random.uniform(0, 10));
  count(agrees(communicator, box, {.box = {{0, 10}, {0, 10}}}, grid({0.2, 0.4}, {2, 4, 8}), random), "a periodic box");
  const Engine engine(EngineOptions{.threads = 1});
  const Sweep sweep = grid({0.2, 0.3, 0.4}, {2, 4, 8});
  const Lineage expected = lineage(engine.load(box.view()), sweep);
  const auto ranks = static_cast<std::size_t>(communicator.size()), me = static_cast<std::size_t>(communicator.rank());
  const PointsView share = box.view().rows(box.size() * me / ranks, box.size() * (me + 1) / ranks);
  const EngineOptions one{.threads = 1};
  const Lineage found = parts::lineage({share}, {.options = {&one, 1}, .ranks = &communicator}, sweep);
  bool same = found.cells().size() == (me == 0 ? sweep.size() : 0);
  for (std::size_t i = 0; i < found.cells().size(); ++i) {
    same = same && found.cell(i).summary == expected.cell(i).summary &&
           found.cell(i).first_core == expected.cell(i).first_core && found.cell(i).size == expected.cell(i).size &&
           found.cell(i).parent_eps == expected.cell(i).parent_eps &&
           found.cell(i).parent_minpts == expected.cell(i).parent_minpts;
  }
  count(same, "a lineage");
  // These points need messages that are too large for the path of small messages.
  const test::DataSet many = test::make_data("clustered", 200'000, 3, Precision::float64, 9);
  count(agrees(communicator, many, {}, grid({0.05}, {5, 10}), random), "many points");
  const std::unique_ptr<parts::Communicator> carried = mpi::make_communicator(MPI_COMM_WORLD, true);
  count(agrees(*carried, many, {}, grid({0.05}, {5, 10}), random), "many points, all carried by MPI");
  bool refused = false;
  try {
    const double eps = communicator.rank() == 0 ? 0.1 : 0.2;
    run_each({box.view()}, {.options = {&one, 1}, .ranks = &communicator}, grid({eps}, {2}), {},
             [](VariantResult&&) {});
  } catch (const UsageError&) {
    refused = true;
  }
  count(refused || communicator.size() == 1, "ranks that differ");
  if (communicator.rank() == 0) std::printf("%d passed, %d failed\n", passed, failed);
  return failed == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "fail") {  // for the test of error output
    return mpi::run_world(
        &argc, &argv,
        [](parts::Communicator& communicator) -> int {
          if (communicator.rank() == communicator.size() - 1) throw ResourceError("no room here");
          return static_cast<int>(communicator.sum(std::uint64_t{1}));
        },
        [](const std::exception&) { return 4; });
  }
#ifdef EPSFLOW_WITH_CUDA
  if (argc > 1 && std::string(argv[1]) == "fault") {  // the 20th launch on the last rank's GPU fails
    return mpi::run_world(
        &argc, &argv,
        [](parts::Communicator& communicator) -> int {
          if (usable_gpus().empty()) {
            std::puts("skipped: no GPU");
            return 0;
          }
          if (communicator.rank() == communicator.size() - 1) {
            gpu::inject_fault(gpu::FaultPoint::launch, 19, 1, cudaErrorLaunchFailure);
          }
          const test::DataSet data = test::make_data("clustered", 2000, 2, Precision::float32, 1);
          const EngineOptions engine = engine_of(communicator);
          run_each({data.view()}, {.options = {&engine, 1}, .ranks = &communicator}, grid({data.scale}, {4}), {},
                   [](VariantResult&&) {});
          return 0;
        },
        [](const std::exception&) { return 4; });
  }
#endif
  return mpi::run_world(&argc, &argv, check_all, [](const std::exception&) { return 1; });
}
