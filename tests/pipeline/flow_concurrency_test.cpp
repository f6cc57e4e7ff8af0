#include <unistd.h>

#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "pipeline/flow_scene.hpp"
#include "support/catch.hpp"
#include "support/watchdog.hpp"

#include <epsflow/pipeline/sweep.hpp>

namespace epsflow::test {
namespace {

/// Captures the standard error of the process until text() is called.
class CapturedErrors {
 public:
  CapturedErrors() : file_(std::tmpfile()), stderr_(dup(STDERR_FILENO)) {
    REQUIRE(file_ != nullptr);
    REQUIRE(stderr_ >= 0);
    std::fflush(stderr);
    REQUIRE(dup2(fileno(file_), STDERR_FILENO) == STDERR_FILENO);
  }
  ~CapturedErrors() {
    restore();
    close(stderr_);
    std::fclose(file_);
  }
  CapturedErrors(const CapturedErrors&) = delete;  // a process has one standard error
  CapturedErrors& operator=(const CapturedErrors&) = delete;

  std::string text() {
    restore();
    std::string all;
    std::rewind(file_);
    for (int c = std::fgetc(file_); c != EOF; c = std::fgetc(file_)) all += static_cast<char>(c);
    return all;
  }

 private:
  void restore() const {
    std::fflush(stderr);
    (void)dup2(stderr_, STDERR_FILENO);
  }

  std::FILE* file_;
  int stderr_;
};

TEST_CASE("flow: runs at once with different numbers of threads do not meet, and print nothing") {
  const Watchdog watchdog("runs with different numbers of threads");
  const std::vector<unsigned> numbers{1, 2, 5, 9, 3, 16, 40};
  const std::vector<Settings> all = flows();
  std::vector<Collector> results(numbers.size() * 5);
  std::string printed;
  {
    CapturedErrors errors;
    std::fputs("this is found", stderr);
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < numbers.size(); ++t) {
      threads.emplace_back([&, t] {
        // Runs repeat, so that some begin while others with more or fewer threads end.
        for (std::size_t round = 0; round < 5; ++round) {
          const RunOptions& way = all[(t * 5 + round) % all.size()].run;
          collect(results[t * 5 + round], {.engine = {.threads = numbers[(t + round) % numbers.size()]}, .run = way});
        }
      });
    }
    for (std::thread& t : threads) t.join();
    printed = errors.text();
  }
  CHECK(printed == "this is found");
  for (const Collector& r : results) CHECK((r.right() && r.complete()));
}

TEST_CASE("flow: a callback may run a sweep of its own") {
  const Watchdog watchdog("nested run");
  for (const Settings& options : flows()) {
    std::size_t right = 0;
    run_each(scene().data.view(), scene().sweep, options, [&](VariantResult&& r) {
      const auto inner = run(scene().data.view(), grid({r.variant.eps}, {r.variant.minpts}), options);
      right += inner.front().labels == r.labels ? 1U : 0U;
    });
    CHECK(right == scene().sweep.size());
  }
}

}  // namespace
}  // namespace epsflow::test
