// The results folder of epsflow watch: files that grow by each step, and a snapshot from which a later run goes on.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include <epsflow/core/metric.hpp>
#include <epsflow/core/table.hpp>
#include <epsflow/io/write/atomic_file.hpp>
#include <epsflow/windows/window.hpp>

namespace epsflow::cli {

/// Files that grow: the changes of clusters, the clusters of each step, and their centres.
inline constexpr std::array<const char*, 3> kWatchFiles{"events.jsonl", "catalog.csv", "tracks.csv"};
// Indices in kWatchFiles.
inline constexpr std::size_t kEvents = 0;
inline constexpr std::size_t kCatalog = 1;
inline constexpr std::size_t kTracks = 2;
/// The length of each of kWatchFiles in bytes.
using WatchSizes = std::array<std::uint64_t, kWatchFiles.size()>;

struct WatchOutputOptions {
  std::vector<std::string> columns;  ///< the coordinates
  Metric metric;
  bool all_events = false;  ///< lists clusters that only continue, too
};

class WatchOutput {
 public:
  /// Opens the files in `folder`, creates those that are missing, and cuts each to its length in `sizes`. Throws
  /// InputError if a file is shorter than this length, ResourceError if a file cannot be written.
  WatchOutput(const std::filesystem::path& folder, const WatchSizes& sizes, WatchOutputOptions options);

  /// Appends the results of the last step of `window` to all files. step: the number of this step. Throws as
  /// epsflow::catalog(), ResourceError.
  void add(std::uint64_t step, const Window& window);
  [[nodiscard]] const WatchSizes& sizes() const noexcept { return sizes_; }
  /// Waits until the files are on the disk. Throws ResourceError.
  void sync();

 private:
  void append(std::size_t file, const std::string& text);
  void append_rows(std::size_t file, const Table& table, bool header);

  WatchOutputOptions options_;
  WatchSizes sizes_;
  std::array<std::unique_ptr<io::FileStream>, kWatchFiles.size()> files_;
};

struct WatchSnapshot {
  nlohmann::ordered_json about;  ///< an object with anything else to keep; its key "window" is reserved
  WindowState window;            ///< only its first variant is stored, and no weights
};

/// Writes `snapshot` to a file, which appears whole or not at all. Throws ResourceError.
void write_snapshot(const std::filesystem::path& file, const WatchSnapshot& snapshot);
/// Returns the snapshot in a file; nullopt if the file is missing or cannot be opened. Throws InputError if it is
/// damaged or another kind of file.
[[nodiscard]] std::optional<WatchSnapshot> read_snapshot(const std::filesystem::path& file);

}  // namespace epsflow::cli
