#include <epsflow/cli/progress_report.hpp>

#include <unistd.h>

#include <cstdio>
#include <string>

#include "support/catch.hpp"

namespace epsflow::cli {
namespace {

/// Returns the output of f on standard error, which is a file meanwhile and therefore not a terminal.
template <class F>
std::string printed_by(F&& f) {
  std::FILE* file = std::tmpfile();
  REQUIRE(file != nullptr);
  std::fflush(stderr);
  const int saved = dup(STDERR_FILENO);
  dup2(fileno(file), STDERR_FILENO);
  f();
  std::fflush(stderr);
  dup2(saved, STDERR_FILENO);
  close(saved);
  std::string text(10'000, '\0');
  std::rewind(file);
  text.resize(std::fread(text.data(), 1, text.size(), file));
  std::fclose(file);
  return text;
}

TEST_CASE("progress report: where there is no terminal a line at most every ten seconds") {
  const std::string text = printed_by([] {
    ProgressReport report(true);
    for (const double seconds : {0.1, 9.9, 10.0, 10.1, 19.9, 20.5, 30.0, 30.6}) {
      report.show({.variants_done = 12, .variants = 64, .table_eps = 0.3, .table_share = 0.4, .seconds = seconds});
    }
  });
  CHECK(text ==
        "epsflow: 12 of 64 variants, eps 0.3 at 40 %, about 43 s left\n"
        "epsflow: 12 of 64 variants, eps 0.3 at 40 %, about 89 s left\n"
        "epsflow: 12 of 64 variants, eps 0.3 at 40 %, about 133 s left\n");
}

TEST_CASE("progress report: nothing is said of the time left before a variant is done, and nothing unless wanted") {
  CHECK(printed_by([] {
          ProgressReport report(true);
          report.show({.variants = 1, .table_eps = 2, .table_share = 0.5, .seconds = 11});
        }) == "epsflow: 0 of 1 variant, eps 2 at 50 %\n");
  CHECK(printed_by([] {
          ProgressReport report(false);
          report.show({.variants_done = 1, .variants = 2, .seconds = 100});
        }).empty());
}

}  // namespace
}  // namespace epsflow::cli
