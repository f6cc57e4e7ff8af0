#include <epsflow/io/results/results_manifest.hpp>

#include <string>
#include <vector>

#include "io/io_test.hpp"
#include "io/json_samples.hpp"

namespace epsflow::io::test {
namespace {

/// Reads a journal of one variant of 2,000 points, with `value` in place of the first `old`. The checksums are correct.
std::optional<JournalContents> read_with(const std::string& old, const std::string& value) {
  std::vector<std::string> events{
      R"(begin {"replaces": false, "input": {"checksum": "x", "points": 2000, "dims": 2}, "run": {"status": "running", "seconds": 0.0}})",
      R"(file {"name": "labels/eps_0.25_minpts_7.npy", "bytes": 8128, "crc32": "00000000"})",
      R"(variant {"eps": 0.25, "minpts": 7, "clusters": 13, "noise": 169, "core": 1600, "border": 231, "largest": 400, "seconds": 1.5})"};
  bool replaced = false;
  for (std::string& event : events) {
    const std::size_t at = event.find(old);
    if (replaced || at == std::string::npos) continue;
    event.replace(at, old.size(), value);
    replaced = true;
  }
  REQUIRE(replaced);
  std::string text;
  for (const std::string& event : events) text += journal_line(event);
  const TempFolder folder;
  folder.write("journal", text);
  return read_journal(folder / "journal");
}

}  // namespace

TEST_CASE("results journal: a variant with counts that are no counts is as a torn line") {
  const std::optional<JournalContents> whole = read_with("1.5", "1.5");
  REQUIRE(whole);
  REQUIRE(whole->state.entries.size() == 1);
  CHECK(whole->state.entries.begin()->second.summary == LabelSummary{13, 169, 1600, 231, 400});
  for (const char* name : {"minpts", "clusters", "noise", "core", "border", "largest"}) {
    const std::string entry = std::string(", \"") + name + "\": ";
    for (const std::string& value : kNoCounts) {
      CAPTURE(name, value);
      // The original number follows under an unused name.
      const std::optional<JournalContents> read = read_with(entry, entry + value + ", \"x\": ");
      REQUIRE(read);
      CHECK(read->state.entries.empty());
      CHECK(read->state.files.size() == 1);
    }
    const std::optional<JournalContents> missing = read_with(entry, ", \"x\": ");
    REQUIRE(missing);
    CHECK(missing->state.entries.empty());
  }
  for (const auto& [old, value] :
       std::vector<std::pair<std::string, std::string>>{{"0.25,", "0,"},
                                                        {"0.25,", "-0.25,"},
                                                        {"0.25,", "null,"},
                                                        {"1.5}", "-1}"},
                                                        {"1.5}", "1e400}"},
                                                        {"169", "170"},
                                                        {"\"clusters\": 13", "\"clusters\": 1601"},
                                                        {"400", "2001"}}) {
    CAPTURE(old, value);
    const std::optional<JournalContents> read = read_with(old, value);
    REQUIRE(read);
    CHECK(read->state.entries.empty());
  }
}

TEST_CASE("results journal: a file of no possible size is as a torn line, and so is all after it") {
  for (const std::string& value : kNoCounts) {
    CAPTURE(value);
    const std::optional<JournalContents> read = read_with("8128", value);
    REQUIRE(read);
    CHECK(read->state.files.empty());
    CHECK(read->state.entries.empty());
  }
}

TEST_CASE("results journal: a beginning with numbers that no run writes is as a torn line") {
  for (const std::string& value : kNoCounts) {
    CAPTURE(value);
    CHECK_FALSE(read_with("2000", value));
    CHECK_FALSE(read_with("\"dims\": 2", "\"dims\": " + value));
  }
  CHECK_FALSE(read_with("\"seconds\": 0.0", "\"seconds\": -1"));
  CHECK_FALSE(read_with("\"seconds\": 0.0", "\"seconds\": null"));
  CHECK_FALSE(read_with("\"seconds\": 0.0", "\"seconds\": [0]"));
}

}  // namespace epsflow::io::test
