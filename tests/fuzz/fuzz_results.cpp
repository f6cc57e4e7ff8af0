// Opens a results folder of arbitrary content and runs into it. Both must succeed or throw an epsflow::Error, and must
// not remove files of other programs. The first byte selects how the folder is opened. The rest is split at zero bytes
// into summary.csv, sweep.json and the lines of the journal, which get correct checksums.
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <epsflow/core/error.hpp>
#include <epsflow/io/checksum.hpp>
#include <epsflow/io/results/results_folder.hpp>

namespace {

namespace fs = std::filesystem;
using namespace epsflow;

constexpr std::string_view kPrecious = "somebody's own";

void write(const fs::path& file, std::string_view text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << text;
}

void require_precious(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (std::string(std::istreambuf_iterator<char>(in), {}) != kPrecious) std::abort();
}

/// Removes everything up to the next zero byte from the front of `text` and returns it.
std::string_view next_part(std::string_view& text) {
  const std::string_view part = text.substr(0, text.find('\0'));
  text.remove_prefix(std::min(text.size(), part.size() + 1));
  return part;
}

std::string journal_of(std::string_view events) {
  std::string journal;
  while (!events.empty()) {
    const std::string_view event = events.substr(0, events.find('\n'));
    events.remove_prefix(std::min(events.size(), event.size() + 1));
    io::Checksum checksum;
    checksum.add(event);
    journal += std::string(event) + " " + io::format_checksum(checksum.value()) + "\n";
  }
  return journal;
}

void run_into(const fs::path& folder, std::uint8_t mode) {
  const io::FolderMode modes[] = {io::FolderMode::fresh, io::FolderMode::resume, io::FolderMode::overwrite};
  const Sweep sweep({{0.25, 7}, {0.5, 7}});
  io::FilePoints points(3, 1, Precision::float64);
  for (double& x : points.values<double>()) x = 1;
  io::FolderOutputs outputs;
  if ((mode & 4) != 0) outputs.wanted.emplace(io::kCoreFolder, ".npy");
  io::ResultsFolder results(folder, sweep, modes[mode % 3], outputs, {});
  for (const Variant& variant : results.begin(io::results_input(points), {})) {
    results.add({variant, {0, -1, 0}, {1, 1, 2, 0, 2}, 1, {1, 0, 1}});
  }
  if ((mode & 8) != 0) results.finish("complete", 1, Trace());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  static const fs::path root = fs::temp_directory_path() / ("epsflow_fuzz_results_" + std::to_string(::getpid()));
  fs::remove_all(root);
  const fs::path folder = root / "results";
  const std::vector<fs::path> precious{root / "outside.npy", folder / "thesis.tex", folder / "labels/mine.npy",
                                       folder / ".epsflow/mine"};
  for (const fs::path& file : precious) write(file, kPrecious);
  std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string_view summary = next_part(text);
  const std::string_view manifest = next_part(text);
  if (!summary.empty()) write(folder / "summary.csv", summary);
  if (!manifest.empty()) write(folder / "sweep.json", manifest);
  if (!text.empty()) write(folder / ".epsflow/journal", journal_of(text));
  try {
    run_into(folder, data[0]);
  } catch (const Error&) {
    // A refusal with a reason is a valid outcome.
  }
  for (const fs::path& file : precious) require_precious(file);
  fs::remove_all(root);
  return 0;
}
