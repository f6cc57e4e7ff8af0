#include <epsflow/pipeline/reporter.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/watchdog.hpp"

namespace epsflow::test {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kThreads = 6;

/// Calls f(t) on several threads at once.
template <class F>
void on_threads(F&& f) {
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kThreads; ++t) threads.emplace_back([&, t] { f(t); });
  for (std::thread& t : threads) t.join();
}

TEST_CASE("reporter: the caller's code runs one call at a time") {
  const Watchdog watchdog("reporter");
  constexpr std::size_t kResults = 40;
  std::atomic<int> inside{0};
  std::atomic<bool> overlapped{false};
  const auto enter = [&] {
    if (++inside > 1) overlapped = true;
    // The delay is long enough for another thread to enter.
    std::this_thread::sleep_for(100us);
    --inside;
  };
  std::size_t results = 0;  // not atomic, because calls must not overlap
  std::vector<Progress> seen;
  Observer observer;
  observer.on_progress = [&](const Progress& p) {
    enter();
    seen.push_back(p);
  };
  Reporter reporter(observer, kThreads * kResults);
  on_threads([&](std::size_t t) {
    for (std::size_t i = 0; i < kResults; ++i) {
      reporter.progress(static_cast<double>(t), 0.5);
      reporter.done([&] {
        enter();
        ++results;
      });
    }
  });
  CHECK_FALSE(overlapped);
  CHECK(results == kThreads * kResults);
  CHECK(seen.size() >= results);
  for (std::size_t i = 1; i < seen.size(); ++i) {
    CHECK(seen[i].variants == results);
    CHECK(seen[i].variants_done >= seen[i - 1].variants_done);
    CHECK(seen[i].seconds >= seen[i - 1].seconds);
  }
  CHECK(seen.back().variants_done == results);
}

TEST_CASE("reporter: what the caller's code throws first is thrown to all who come later, and nothing more is called") {
  const Watchdog watchdog("reporter throws");
  for (const std::string from : {"result", "progress of a result", "progress of a table"}) {
    INFO(from);
    int calls = 0;
    bool fail = false;
    Observer observer;
    observer.on_progress = [&](const Progress&) {
      ++calls;
      if (fail && from != "result") throw std::domain_error("no more");
    };
    const auto hand_over = [&] {
      ++calls;
      if (fail && from == "result") throw std::domain_error("no more");
    };
    Reporter reporter(observer, 100);
    CHECK_NOTHROW(reporter.done(hand_over));
    CHECK(calls == 2);
    fail = true;
    // The progress of a table is reported a twentieth of a second after the last report, at the earliest.
    if (from == "progress of a table") std::this_thread::sleep_for(60ms);
    const auto report = [&] {
      if (from == "progress of a table") return reporter.progress(1, 0.5);
      reporter.done(hand_over);
    };
    CHECK(error_of<std::domain_error>(report) == "no more");
    const int before = calls;
    fail = false;
    for (int i = 0; i < 3; ++i) {
      CHECK(error_of<std::domain_error>([&] { reporter.done(hand_over); }) == "no more");
      CHECK(error_of<std::domain_error>([&] { reporter.progress(1, 0.5); }) == "no more");
    }
    CHECK(calls == before);
  }
}

TEST_CASE("reporter: of several threads that throw, everybody gets the first exception") {
  const Watchdog watchdog("reporter throws on threads");
  for (int round = 0; round < 50; ++round) {
    const Observer observer;
    Reporter reporter(observer, 100);
    std::atomic<int> calls{0};
    std::vector<std::string> texts(kThreads);
    on_threads([&](std::size_t t) {
      try {
        reporter.done([&] {
          ++calls;
          // The delay is long enough for the others to wait at the lock.
          std::this_thread::sleep_for(200us);
          throw std::domain_error("thread " + std::to_string(t));
        });
      } catch (const std::domain_error& error) {
        texts[t] = error.what();
      }
    });
    CHECK(calls == 1);
    CHECK(texts.front().rfind("thread ", 0) == 0);
    for (const std::string& text : texts) CHECK(text == texts.front());
  }
}

TEST_CASE("reporter: progress at most twenty times a second, but of every variant that is done") {
  std::vector<Progress> seen;
  const Observer observer{.on_progress = [&](const Progress& p) { seen.push_back(p); }};
  Reporter reporter(observer, 30);
  for (int variant = 0; variant < 30; ++variant) {
    const auto end = std::chrono::steady_clock::now() + (variant % 10 == 5 ? 120ms : 1ms);
    while (std::chrono::steady_clock::now() < end) reporter.progress(0.25, 0.75);
    reporter.progress(0.25, 0.75);
    reporter.done([] {});
  }
  std::size_t of_variants = 0, of_tables = 0;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    CHECK(seen[i].table_eps == 0.25);
    CHECK(seen[i].table_share == 0.75);
    if (seen[i].variants_done > (i == 0 ? 0 : seen[i - 1].variants_done)) {
      CHECK(seen[i].variants_done == ++of_variants);
      continue;
    }
    ++of_tables;
    if (i > 0) CHECK(seen[i].seconds - seen[i - 1].seconds > 0.0499);
  }
  CHECK(of_variants == 30);
  // The calls are the first one and two in each of the three long phases, or one if the machine was stalled.
  CHECK(of_tables >= 1 + 3);
}

TEST_CASE("reporter: what moves while the caller's code runs is in the next report, and no table goes back") {
  const Watchdog watchdog("reporter moved meanwhile");
  std::vector<Progress> seen;
  const Observer observer{.on_progress = [&](const Progress& p) { seen.push_back(p); }};
  Reporter reporter(observer, 2);
  reporter.done([&] {
    std::thread([&] {
      reporter.progress(0.5, 0.25);
      reporter.progress(0.25, 1);
      reporter.progress(0.25, 0.75);
    }).join();
  });
  reporter.done([] {});
  REQUIRE(seen.size() == 2);
  CHECK(seen.back().table_eps == 0.25);
  CHECK(seen.back().table_share == 1);
}

}  // namespace
}  // namespace epsflow::test
