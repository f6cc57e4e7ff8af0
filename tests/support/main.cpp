// Catch2 2 expects the user to define main(); Catch2 3 defines it in Catch2WithMain.
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

/// The limit is set before the first thread starts, as engines do.
static const tbb::global_control kMostThreads{tbb::global_control::max_allowed_parallelism, 4096};

#if defined(__SANITIZE_ADDRESS__)
/// Keeps oneTBB's threads while tests run and then waits until they end. If the program ends before them, LeakSanitizer
/// sometimes reports their thread_local data as leaks. Without the sanitizer there is no wait: once a GPU has made a
/// table, the wait would fail at once, because CUDA's completion thread has called into oneTBB, counts as its thread
/// from then on and lives as long as the program.
struct EndsWorkers : ListenerBase {
  using ListenerBase::ListenerBase;
  void testRunEnded(const Catch::TestRunStats& stats) override {
    ListenerBase::testRunEnded(stats);
    if (stats.totals.testCases.failed > 0) return;  // after a signal, the wait may never end
    if (!tbb::finalize(workers, std::nothrow)) std::fputs("threads of oneTBB are still at work\n", stderr);
  }
  tbb::task_scheduler_handle workers{tbb::attach()};
};
CATCH_REGISTER_LISTENER(EndsWorkers)
#endif

// Tests have few points, so they would run on the CPU. If there is a GPU, they run there.
static const int kPrefersGpu = setenv("EPSFLOW_BACKEND", "gpu", 0);  // NOLINT: the value is not used
