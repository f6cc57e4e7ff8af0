// The page window.html of epsflow watch: the points of the window, a table of its clusters, and how the sizes of
// clusters changed from step to step.
//
// The history of the clusters is read from events.jsonl and tracks.csv, so that a run that goes on shows it too. Only
// its last steps stay in memory.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <epsflow/cli/watch_input.hpp>
#include <epsflow/cli/watch_output.hpp>
#include <epsflow/core/stopwatch.hpp>
#include <epsflow/windows/window.hpp>

namespace epsflow::cli {

/// The state between two steps.
struct WatchProgress {
  InputPosition position;
  std::uint64_t steps = 0;            ///< the number of steps that are finished
  std::uint64_t late = 0;             ///< rows that were left out because their time was too far before the latest one
  std::uint64_t unused = 0;           ///< rows that left in the step which brought them, because the step was too large
  std::optional<double> latest = {};  ///< the largest time of a row so far
  WatchSizes sizes = {};
};

class WatchPage {
 public:
  /// folder: the results folder. columns: the names of the coordinates.
  WatchPage(std::filesystem::path folder, std::vector<std::string> columns);

  /// Returns true if a page should be written: none was, or the last one is at least a second old, and so old that
  /// writing pages takes at most a tenth of the time.
  [[nodiscard]] bool is_due() const noexcept { return since_.seconds() >= pause_; }
  /// Writes the page, which appears whole or not at all. The files of the folder must be those after the last step of
  /// the window. running: more steps may follow, so that the page reloads itself. O(points + new lines of the files).
  /// Throws ResourceError.
  void write(const Window& window, const WatchProgress& progress, bool running);

 private:
  /// The part of the life of a cluster that is in memory.
  struct Life {
    std::uint64_t born = 0;  ///< the step
    double born_time = 0;
    std::uint64_t first = 0;                ///< the first step in memory
    std::vector<std::uint64_t> sizes = {};  ///< [steps from `first` on] numbers of points
  };

  void read_track(std::string_view line);
  void read_event(std::string_view line);
  void forget_before(std::uint64_t step);
  [[nodiscard]] nlohmann::ordered_json table(const std::vector<WindowCluster>& clusters) const;
  void add_history(nlohmann::ordered_json& data, std::uint64_t first) const;

  std::filesystem::path folder_;
  std::vector<std::string> columns_;
  WatchSizes read_ = {};  ///< bytes of the files that were read
  std::map<std::uint64_t, Life> lives_;
  std::map<std::uint64_t, double> times_;      ///< of the steps that have clusters
  std::deque<nlohmann::ordered_json> events_;  ///< step, kind, ids before and after
  Stopwatch since_;
  double pause_ = 0;
};

}  // namespace epsflow::cli
