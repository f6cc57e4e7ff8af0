#include <epsflow/core/trace.hpp>

#include <chrono>
#include <cstdint>
#include <set>
#include <string_view>
#include <thread>
#include <vector>

#include "support/catch.hpp"

namespace epsflow {
namespace {

TEST_CASE("trace: every stage has a name of its own") {
  std::set<std::string_view> names(kStageNames.begin(), kStageNames.end());
  CHECK(names.size() == kStageNames.size());
  CHECK(names.count("") == 0);
  CHECK(stage_name(Stage::group_by_eps) == "group by eps");
  CHECK(stage_name(Stage::emit_results) == kStageNames.back());
  CHECK(static_cast<std::size_t>(Stage::emit_results) + 1 == kStageNames.size());
}

TEST_CASE("trace: a scope is one span") {
  Trace trace;
  {
    const TraceScope scope(&trace, Stage::build_index, 0.25, {"points", 17});
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    CHECK(trace.spans().empty());
  }
  const std::vector<TraceSpan> spans = trace.spans();
  REQUIRE(spans.size() == 1);
  CHECK(spans[0].stage == Stage::build_index);
  CHECK(spans[0].eps == 0.25);
  CHECK(spans[0].detail.name == "points");
  CHECK(spans[0].detail.value == 17);
  CHECK(spans[0].begin_ns >= 0);
  CHECK(spans[0].end_ns - spans[0].begin_ns >= 2'000'000);
}

TEST_CASE("trace: without a trace nothing is recorded") {
  CHECK_NOTHROW(TraceScope(nullptr, Stage::sort_pairs, 1, {}));
}

TEST_CASE("trace: threads are numbered from 0 in the order of their first span") {
  Trace trace;
  const auto now = Trace::Clock::now();
  trace.record(Stage::build_index, now, now, 1, {});
  // Both threads exist at once, because the id of a thread may be reused after it ends.
  std::thread first([&] {
    trace.record(Stage::build_table, now, now, 1, {});
    std::thread second([&] { trace.record(Stage::sort_pairs, now, now, 1, {}); });
    second.join();
  });
  first.join();
  trace.record(Stage::emit_results, now, now, 1, {});
  const auto spans = trace.spans();
  REQUIRE(spans.size() == 4);
  CHECK(spans[0].thread == 0);
  CHECK(spans[1].thread == 1);
  CHECK(spans[2].thread == 2);
  CHECK(spans[3].thread == 0);
}

TEST_CASE("trace: spans and retries of many threads are all there") {
  Trace trace;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        const TraceScope scope(&trace, Stage::find_neighbors, 1, {"rows", 1});
        trace.count_retry();
        trace.count_undecided_pairs(3);
      }
    });
  }
  for (std::thread& t : threads) t.join();
  CHECK(trace.spans().size() == 2000);
  CHECK(trace.retries() == 2000);
  CHECK(trace.undecided_pairs() == 6000);
}

}  // namespace
}  // namespace epsflow
