#include <epsflow/cli/options.hpp>

#include "support/catch.hpp"

namespace epsflow::cli {
namespace {

TEST_CASE("options: options of the library become those of the command line") {
  CHECK(in_program_words("raise EngineOptions::memory to 8 GiB") == "raise --memory to 8 GiB");
  // The longest name is replaced, and the text after a name does not belong to it.
  CHECK(in_program_words("EngineOptions::gpu_memory, EngineOptions::gpu.") == "--gpu-memory, --gpu.");
  CHECK(in_program_words("SearchOptions::lane_pairs and SearchOptions::lanes") == "--batch-pairs and --lanes");
  CHECK(in_program_words("use ReadOptions::text.skip_rows") == "use --skip-rows");
  CHECK(in_program_words("ReadOptions::memory is 5") == "--memory is 5");
}

TEST_CASE("options: an option with its value") {
  CHECK(in_program_words("use EngineOptions::backend = BackendChoice::cpu") == "use --backend cpu");
  CHECK(in_program_words("ReadOptions::on_nan = NanPolicy::drop; or") == "--on-nan drop; or");
  CHECK(in_program_words("ReadOptions::text.header = Header::yes or Header::no") == "--header yes or no");
  CHECK(in_program_words("ReadOptions::text.decimal = ','") == "--decimal ','");
  CHECK(in_program_words("ReadOptions::external_storage = true") == "--external");
}

TEST_CASE("options: everything else stays as it is") {
  for (const char* text : {"", "a = b", "MyOptions::memory", "std::bad_alloc", "größer als 5 %", "Options: memory"}) {
    CHECK(in_program_words(text) == text);
  }
}

}  // namespace
}  // namespace epsflow::cli
