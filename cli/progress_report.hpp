// The progress of a run on standard error.
#pragma once

#include <epsflow/core/cancel.hpp>
#include <epsflow/pipeline/options.hpp>

namespace epsflow::cli {

/// Shows progress: on a terminal as a bar, which the destructor erases; elsewhere as a line at most every ten seconds,
/// the first after ten seconds.
class ProgressReport {
 public:
  /// wanted: if false, nothing is shown.
  explicit ProgressReport(bool wanted);
  ~ProgressReport();
  ProgressReport(const ProgressReport&) = delete;  // a stream has one report
  ProgressReport& operator=(const ProgressReport&) = delete;

  /// Draws the bar, or prints a line if one is due. Shows nothing if the number of variants is 0. Not thread-safe.
  void show(const Progress& progress);

 private:
  void draw_bar(const Progress& progress);

  bool wanted_;
  bool terminal_;
  bool drawn_ = false;
  double next_line_;  // Progress::seconds from which the next line is due
};

/// Returns work(observer) for an observer (Observer in pipeline/options.hpp) that has the token `cancel` and shows
/// progress if `wanted`. The observer must not be used after the call.
template <class Work>
auto watched(bool wanted, const CancelToken& cancel, Work&& work) {
  ProgressReport report(wanted);
  return work(Observer{.on_progress = [&](const Progress& progress) { report.show(progress); }, .cancel = &cancel});
}

}  // namespace epsflow::cli
