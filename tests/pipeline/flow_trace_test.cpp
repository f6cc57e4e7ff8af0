#include <cstdint>
#include <map>

#include "pipeline/flow_scene.hpp"
#include "support/catch.hpp"

#include <epsflow/pipeline/sweep.hpp>

namespace epsflow::test {
namespace {

TEST_CASE("flow: the trace holds every stage, and every row of every table once") {
  for (const Kernel kernel : {Kernel::rows, Kernel::global, Kernel::shared}) {
    Trace trace;
    (void)run_scene({.engine = {.backend = BackendChoice::cpu},  // the CPU's batches are rows with every kernel
                     .run = {.search = {.kernel = kernel, .format = FormatChoice::csr}}},
                    {.trace = &trace});
    REQUIRE(trace.retries() == 0);
    std::map<Stage, std::size_t> spans;
    std::map<double, std::uint64_t> rows;
    for (const TraceSpan& span : trace.spans()) {
      ++spans[span.stage];
      CHECK(span.begin_ns <= span.end_ns);
      CHECK(span.begin_ns >= 0);
      CHECK_FALSE(span.detail.name.empty());
      if (span.stage != Stage::find_neighbors) continue;
      CHECK(span.detail.name == "rows");
      rows[span.eps] += span.detail.value;
    }
    CHECK(spans[Stage::group_by_eps] == 1);
    CHECK(spans[Stage::build_index] == 3);
    CHECK(spans[Stage::plan_batches] == 3);
    CHECK(spans[Stage::build_table] == spans[Stage::find_neighbors]);
    CHECK(spans[Stage::sort_pairs] == (emits_pairs(kernel) ? spans[Stage::find_neighbors] : 0));
    CHECK(spans[Stage::cluster_variants] >= 3);
    CHECK(spans[Stage::emit_results] == scene().sweep.size());
    CHECK(rows.size() == 3);
    for (const auto& [eps, sum] : rows) CHECK(sum == scene().data.size());
  }
}

TEST_CASE("flow: the trace of a run without a table holds its stages, and none of tables") {
  for (const StrategyChoice strategy : {StrategyChoice::direct, StrategyChoice::automatic}) {
    Trace trace;
    (void)run_scene({.engine = {.backend = BackendChoice::cpu}, .run = {.strategy = strategy}}, {.trace = &trace});
    std::map<Stage, std::size_t> spans;
    for (const TraceSpan& span : trace.spans()) {
      ++spans[span.stage];
      CHECK(span.begin_ns <= span.end_ns);
      CHECK_FALSE(span.detail.name.empty());
      if (span.stage != Stage::cluster_directly) continue;
      CHECK(span.detail.name == "variants");
      CHECK(span.detail.value == 3);
    }
    const std::map<Stage, std::size_t> expected{{Stage::load_points, 1},
                                                {Stage::group_by_eps, 1},
                                                {Stage::build_index, 3},
                                                {Stage::cluster_directly, 3},
                                                {Stage::emit_results, scene().sweep.size()}};
    CHECK(spans == expected);
  }
}

}  // namespace
}  // namespace epsflow::test
