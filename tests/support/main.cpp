// Catch2 2 leaves main() to the user; Catch2 3 brings its own in Catch2WithMain.
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using ListenerBase = Catch::EventListenerBase;
#else
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
using ListenerBase = Catch::TestEventListenerBase;
#endif

#include <cstdio>
#include <cstdlib>
#include <new>

#include <oneapi/tbb/global_control.h>

/// Before the first thread, as in engines.
static const tbb::global_control kMostThreads{tbb::global_control::max_allowed_parallelism, 4096};

#if defined(__SANITIZE_ADDRESS__)
/// Keeps oneTBB's threads while tests run and waits for their ends: LeakSanitizer now and then reports what they keep for themselves
/// (thread_local) as leaked, if the program ends before they have. Without the sanitizer nothing waits: where a GPU has made a table,
/// the wait ends at once, as CUDA's thread that reports completions has called into oneTBB, is one of its threads from then on, and lives
/// as long as the program.
struct EndsWorkers : ListenerBase {
  using ListenerBase::ListenerBase;
  void testRunEnded(const Catch::TestRunStats& stats) override {
    ListenerBase::testRunEnded(stats);
    if (stats.totals.testCases.failed > 0) return;  // which may be for a signal, where waiting may never end
    if (!tbb::finalize(workers, std::nothrow)) std::fputs("threads of oneTBB are still at work\n", stderr);
  }
  tbb::task_scheduler_handle workers{tbb::attach()};
};
CATCH_REGISTER_LISTENER(EndsWorkers)
#endif

// Tests have few points, and where there is a GPU they are to run there.
static const int kPrefersGpu = setenv("EPSFLOW_BACKEND", "gpu", 0);  // NOLINT: kept by nobody
