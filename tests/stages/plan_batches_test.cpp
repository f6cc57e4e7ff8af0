#include <epsflow/stages/plan_batches.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/random_points.hpp"

#include <epsflow/core/error.hpp>
#include <epsflow/cpu/cpu_backend.hpp>

namespace epsflow::stages {
namespace {

using test::check_mentions;
using test::DataSet;
using test::error_of;

/// The work of one eps with its index, as the stage before delivers it.
struct Scene {
  explicit Scene(std::uint64_t memory, std::size_t dims = 2)
      : data(test::make_data("uniform", 2000, dims, Precision::float64, 4)), budget(memory), pool(budget) {
    job.index = points->build_index({.eps = 1, .cells = Cells::eps}, cancel);
  }
  DataSet data;
  CancelToken cancel;
  MemoryBudget budget;
  ArenaPool pool;
  std::unique_ptr<Backend> backend = cpu::make_cpu_backend(1);
  std::unique_ptr<LoadedPoints> points = backend->load(data.view());
  EpsJob job{EpsGroup{1, {4}}};
};

PlanBatches make_plan(Scene& scene, FormatChoice format, Kernel kernel = Kernel::rows, std::uint64_t per_variant = 0) {
  return {.pool = scene.pool,
          .options = {.format = format, .kernel = kernel, .workers = 2},
          .consumer_bytes = [=](std::size_t variants) { return variants * per_variant; }};
}

TEST_CASE("plan batches: an empty table of the right format, and batches for every row") {
  for (const FormatChoice format : {FormatChoice::automatic, FormatChoice::csr, FormatChoice::packed}) {
    for (const std::size_t dims : {2U, 5U}) {
      if (dims == 5 && format == FormatChoice::packed) continue;
      Scene scene(std::uint64_t{1} << 30, dims);
      const PlanBatches plan = make_plan(scene, format);
      REQUIRE(plan(scene.job, true));
      const bool packed = format == FormatChoice::packed || (format == FormatChoice::automatic && dims == 2);
      CHECK(scene.job.table->format() == (packed ? TableFormat::packed : TableFormat::csr));
      CHECK(scene.job.table->size() == 2000);
      const BatchPlan& made = scene.job.search->plan();
      CHECK(scene.job.table->blocks().size() == made.batches.size());
      CHECK((made.pairs > 0) == !packed);
      CHECK_FALSE(made.counted);
      std::uint32_t next = 0;
      for (const Range& block : scene.job.table->blocks()) {
        CHECK(block.begin == next);
        next = block.end;
      }
      CHECK(next == 2000);
      CHECK(scene.budget.used() >= 2000 * 4);
    }
  }
}

TEST_CASE("plan batches: pairs need a csr table") {
  for (const Kernel kernel : {Kernel::global, Kernel::shared}) {
    Scene scene(std::uint64_t{1} << 30);
    REQUIRE(make_plan(scene, FormatChoice::automatic, kernel)(scene.job, true));
    CHECK(scene.job.table->format() == TableFormat::csr);
    Scene other(std::uint64_t{1} << 30);
    const PlanBatches plan = make_plan(other, FormatChoice::packed, kernel);
    check_mentions(error_of<UsageError>([&] { (void)plan(other.job, true); }),
                   {"packed", "SearchOptions::kernel = Kernel::rows"});
  }
}

TEST_CASE("plan batches: a table that does not fit waits beside others, and is an error alone") {
  for (const FormatChoice format : {FormatChoice::packed, FormatChoice::csr}) {
    Scene scene(20'000);
    const PlanBatches plan = make_plan(scene, format);
    CHECK_FALSE(plan(scene.job, false));
    CHECK(scene.job.table == nullptr);
    CHECK(scene.budget.used() == 0);
    const std::string text = error_of<ResourceError>([&] { (void)plan(scene.job, true); });
    check_mentions(text, {"eps 1", "needs", "19.5 KiB", "EngineOptions::memory", "at least"});
    CHECK(scene.budget.used() == 0);
  }
}

TEST_CASE("plan batches: what the consumer needs is set aside with the table") {
  // Records the charge and the budget in the error text, with and without 1,000 bytes for each of three variants.
  std::vector<std::uint64_t> charged;
  std::vector<std::uint64_t> named;
  for (const std::uint64_t per_variant : {0U, 1000U}) {
    Scene large(std::uint64_t{1} << 30);
    large.job.group.minpts = {8, 4, 2};
    REQUIRE(make_plan(large, FormatChoice::packed, Kernel::rows, per_variant)(large.job, true));
    charged.push_back(large.budget.used());
    Scene small(20'000);
    small.job.group.minpts = {8, 4, 2};
    const PlanBatches plan = make_plan(small, FormatChoice::packed, Kernel::rows, per_variant);
    const std::string text = error_of<ResourceError>([&] { (void)plan(small.job, true); });
    named.push_back(test::named_bytes(text));
    REQUIRE(named.back() > 0);
    Scene enough(named.back());
    enough.job.group.minpts = {8, 4, 2};
    CHECK(make_plan(enough, FormatChoice::packed, Kernel::rows, per_variant)(enough.job, true));
    Scene one_less(named.back() - 1);
    one_less.job.group.minpts = {8, 4, 2};
    CHECK_FALSE(make_plan(one_less, FormatChoice::packed, Kernel::rows, per_variant)(one_less.job, false));
  }
  CHECK(charged[1] == charged[0] + 3000);
  CHECK(named[1] == named[0] + 3000);
}

}  // namespace
}  // namespace epsflow::stages
