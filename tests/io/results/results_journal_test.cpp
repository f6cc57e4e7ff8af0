#include <epsflow/io/results/results_manifest.hpp>

#include <string>
#include <utility>
#include <vector>

#include "io/io_test.hpp"

namespace epsflow::io::test {
namespace {

/// The events of a journal of one variant of 2,000 points.
const Names kEvents{
    R"(begin {"replaces": false, "input": {"checksum": "x", "points": 2000, "dims": 2}, "run": {"status": "running", "seconds": 0.0}})",
    R"(file {"name": "labels/eps_0.25_minpts_7.npy", "bytes": 8128, "crc32": "00000000"})",
    R"(variant {"eps": 0.25, "minpts": 7, "clusters": 13, "noise": 169, "core": 1600, "border": 231, "largest": 400, "seconds": 1.5})"};

/// Reads a journal of these events, with correct checksums.
std::optional<JournalContents> read(const Names& events) {
  std::string text;
  for (const std::string& event : events) {
    Checksum checksum;
    checksum.add(event);
    text += event + " " + format_checksum(checksum.value()) + "\n";
  }
  const TempFolder folder;
  folder.write("journal", text);
  return read_journal(folder / "journal");
}

/// Reads the journal of kEvents with `value` in place of the text `old` of this event.
std::optional<JournalContents> read_with(std::size_t event, const std::string& old, const std::string& value) {
  Names events = kEvents;
  const std::size_t at = events[event].find(old);
  REQUIRE(at != std::string::npos);
  events[event].replace(at, old.size(), value);
  return read(events);
}

using Replaced = std::vector<std::pair<std::string, std::string>>;

}  // namespace

TEST_CASE("results journal: numbers that no run writes are as a torn line, and so is all after it") {
  const std::optional<JournalContents> whole = read(kEvents);
  REQUIRE(whole);
  REQUIRE(whole->state.entries.size() == 1);
  CHECK(whole->state.entries.begin()->second.summary == LabelSummary{13, 169, 1600, 231, 400});
  for (const auto& [old, value] : Replaced{
           {"169", "2.5"}, {"169", "170"}, {"\"noise\"", "\"x\""}, {"0.25", "0"}, {"1.5", "-1"}, {"1.5", "1e400"}}) {
    CAPTURE(old, value);
    const std::optional<JournalContents> without_variant = read_with(2, old, value);
    REQUIRE(without_variant);
    CHECK(without_variant->state.entries.empty());
    CHECK(without_variant->state.files.size() == 1);
  }
  const std::optional<JournalContents> without_file = read_with(1, "8128", "2.5");
  REQUIRE(without_file);
  CHECK(without_file->state.files.empty());
  CHECK(without_file->state.entries.empty());
  for (const auto& [old, value] : Replaced{{"2000", "-1"}, {"\"dims\": 2", "\"dims\": null"}, {"0.0", "[0]"}}) {
    CAPTURE(old, value);
    CHECK_FALSE(read_with(0, old, value));
  }
}

TEST_CASE("results journal: events of another form are as a torn line") {
  for (const char* event :
       {"begin junk", R"(begin {"replaces": 3, "input": [], "run": 1})",
        R"(begin {"replaces": false, "input": {"checksum": "x"}, "run": {}})", "variant junk", "file", "file x",
        R"(file {"name": "trace.json"})", R"(file {"name": "trace.json", "bytes": 3, "crc32": "00"})",
        R"(file {"name": "sweep.json", "bytes": 1, "crc32": "00000000"})",
        R"(file {"name": "../x", "bytes": 1, "crc32": "00000000"})"}) {
    CAPTURE(event);
    const std::optional<JournalContents> contents = read({kEvents[0], event, kEvents[1]});
    REQUIRE(contents);
    CHECK(contents->state.runs.size() == 1);
    CHECK(contents->state.files.empty());
  }
  const std::optional<JournalContents> without_labels = read({kEvents[0], kEvents[2]});
  REQUIRE(without_labels);
  CHECK(without_labels->state.entries.empty());
}

}  // namespace epsflow::io::test
