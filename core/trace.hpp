// Trace: the times of each stage's work. One list of stage names serves the trace, the benchmarks and the ranges that a
// GPU's profiler shows.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <vector>

namespace epsflow {

enum class Stage : std::uint8_t {
  load_points,
  group_by_eps,
  build_index,
  plan_batches,
  find_neighbors,
  sort_pairs,
  build_table,
  cluster_directly,
  cluster_variants,
  emit_results,
};

inline constexpr std::array<std::string_view, 10> kStageNames{
    "load points", "group by eps", "build index",       "plan batches",       "neighbours",
    "sort",        "build table",  "direct clustering", "DBSCAN per variant", "results",
};

[[nodiscard]] constexpr std::string_view stage_name(Stage s) noexcept {
  return kStageNames[static_cast<std::size_t>(s)];
}

/// The amount of a span's work: {"rows", 512}, {"minpts", 4}. The name is a literal.
struct TraceDetail {
  std::string_view name;
  std::uint64_t value = 0;
};

/// One span of work of one stage. Times in nanoseconds since the trace began.
struct TraceSpan {
  Stage stage{};
  std::uint32_t thread = 0;  ///< the thread that recorded it; threads count from 0 in the order of their first spans
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  double eps = 0;  ///< as the caller gave it; 0 for work on all points or all variants
  TraceDetail detail;
};

/// Collects spans from any thread. Each span takes a lock once. That costs little, because a span covers at least a
/// whole batch: a number of points whose neighbours are searched together.
class Trace {
 public:
  using Clock = std::chrono::steady_clock;

  /// Stores a span. If memory does not suffice, it is dropped and nothing is thrown, so that the work goes on.
  void record(Stage stage, Clock::time_point begin, Clock::time_point end, double eps, TraceDetail detail) noexcept;
  /// Counts a batch that outgrew its buffer and was split.
  void count_retry();
  /// Adds to undecided_pairs(), the number of pairs that a faster test could not decide and left to the float64 test.
  void count_undecided_pairs(std::uint64_t pairs);

  /// Returns a copy of all spans so far, in the order in which they were recorded.
  [[nodiscard]] std::vector<TraceSpan> spans() const;
  [[nodiscard]] std::uint64_t retries() const;
  [[nodiscard]] std::uint64_t undecided_pairs() const;

 private:
  mutable std::mutex mutex_;
  const Clock::time_point start_ = Clock::now();
  std::vector<TraceSpan> spans_;
  std::vector<std::uint64_t> threads_;
  std::uint64_t retries_ = 0;
  std::uint64_t undecided_pairs_ = 0;
};

/// Records the time between construction and destruction as one span; does nothing without a trace.
class TraceScope {
 public:
  TraceScope(Trace* trace, Stage stage, double eps, TraceDetail detail) noexcept
      : trace_(trace), stage_(stage), eps_(eps), detail_(detail), begin_(Trace::Clock::now()) {}
  ~TraceScope();
  TraceScope(const TraceScope&) = delete;
  TraceScope& operator=(const TraceScope&) = delete;

 private:
  Trace* trace_;
  Stage stage_;
  double eps_;
  TraceDetail detail_;
  Trace::Clock::time_point begin_;
};

}  // namespace epsflow
