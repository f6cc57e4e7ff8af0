// The page window.html of epsflow watch: the points of the window, the lives of its clusters and a table of them.
//
// The history of the clusters is read from events.jsonl and tracks.csv, so that a run that goes on shows it too. Only
// the last steps of it stay in memory.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include <epsflow/cli/watch_output.hpp>
#include <epsflow/cli/watch_rows.hpp>
#include <epsflow/core/stopwatch.hpp>
#include <epsflow/windows/window.hpp>

namespace epsflow::cli {

/// The progress of the run, as the page shows it.
struct WatchPageState {
  std::uint64_t steps = 0;
  std::uint64_t rows = 0;
  std::uint64_t late = 0;
  std::uint64_t skipped = 0;
  TimeKind times = TimeKind::unknown;
  bool running = false;  ///< the page reloads itself
};

class WatchPage {
 public:
  /// folder: the results folder. columns: the coordinates.
  WatchPage(std::filesystem::path folder, std::vector<std::string> columns);

  /// Returns true if the last page is a second old, and so old that pages take a tenth of the time at most.
  [[nodiscard]] bool is_due() const noexcept { return since_.seconds() >= pause_; }
  /// Writes the page, which appears whole or not at all. The files of the folder must be those after the last step of
  /// the window. O(points + new lines of the files). Throws ResourceError.
  void write(const Window& window, const WatchPageState& state);

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
  WatchSizes read_ = {};  ///< bytes of the files
  std::map<std::uint64_t, Life> lives_;
  std::map<std::uint64_t, double> times_;      ///< of the steps that have clusters
  std::deque<nlohmann::ordered_json> events_;  ///< step, kind, ids before and after
  Stopwatch since_;
  double pause_ = 0;
};

}  // namespace epsflow::cli
