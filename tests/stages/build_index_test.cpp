#include <epsflow/stages/build_index.hpp>

#include <cstdint>

#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/random_points.hpp"

#include <epsflow/core/error.hpp>
#include <epsflow/cpu/cpu_backend.hpp>

namespace epsflow::stages {
namespace {

TEST_CASE("build index: charged at its peak while it is built, and at its size from then on") {
  const auto backend = cpu::make_cpu_backend(1);
  const CancelToken cancel;
  for (const std::size_t dims : {1U, 2U, 8U}) {
    for (const Precision precision : {Precision::float32, Precision::float64}) {
      const test::DataSet data = test::make_data("uniform", 3000, dims, precision, 1);
      const auto points = backend->load(data.view());
      MemoryBudget budget(points->index_bytes({}));
      {
        EpsJob job(EpsGroup{0.5, {4}});
        const Cells cells = precision == Precision::float32 ? Cells::eps : Cells::dense_box;
        REQUIRE(BuildIndex{*points, budget, cancel, {.cells = cells}}(job, true));
        REQUIRE(job.index != nullptr);
        CHECK(job.index->figures().dense_boxes == (cells == Cells::dense_box && dims <= 3));
        CHECK(job.index->table({})->order().ids.size() == 3000);
        CHECK(budget.used() == job.index->bytes());
        CHECK(budget.used() >= 3000 * 4 + data.view().bytes());
      }
      CHECK(budget.used() == 0);

      // Together with other tables it waits for their memory. Alone it has nothing to wait for.
      MemoryBudget small(points->index_bytes({}) - 1);
      const BuildIndex build{*points, small, cancel, {}};
      EpsJob job(EpsGroup{0.5, {4}});
      CHECK_FALSE(build(job, false));
      test::check_mentions(test::error_of<ResourceError>([&] { (void)build(job, true); }),
                           {"the index", "EngineOptions::memory"});
      CHECK(job.index == nullptr);
      CHECK(small.used() == 0);
    }
  }
}

}  // namespace
}  // namespace epsflow::stages
