#include <epsflow/cli/command.hpp>

#include "support/catch.hpp"

namespace epsflow::cli {
namespace {

TEST_CASE("command: the word that a slip meant is found, and no word for what is no slip") {
  const std::vector<std::string> known{"eps", "minpts", "min-samples", "memory", "gpu", "gpu-memory"};
  CHECK(nearest("minpt", known) == "minpts");
  CHECK(nearest("mintps", known) == "minpts");
  CHECK(nearest("min-sample", known) == "min-samples");
  CHECK(nearest("gpu_memory", known) == "gpu-memory");
  CHECK(nearest("mem", known) == "memory");  // a prefix
  CHECK(nearest("espp", known) == "");
  CHECK(nearest("verbose", known) == "");
  CHECK(nearest("x", {}) == "");
}

TEST_CASE("command: an option shows its words, its default and what 0 stands for") {
  const OptionSpec threads{.name = "threads",
                           .kind = ValueKind::integer,
                           .value = "N",
                           .zero = "one per core",
                           .standard = "0",
                           .help = "threads that work"};
  CHECK(value_name(threads) == "N");
  CHECK(describe(threads) == "threads that work (default: 0, one per core)");
  const OptionSpec backend{.name = "backend", .kind = ValueKind::word, .words = {"cpu", "gpu"}, .help = "where"};
  CHECK(value_name(backend) == "cpu|gpu");
  CHECK(describe(backend) == "where");
}

}  // namespace
}  // namespace epsflow::cli
