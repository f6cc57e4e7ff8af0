// The progress of a run on standard error.
#pragma once

#include <epsflow/core/cancel.hpp>
#include <epsflow/pipeline/options.hpp>

namespace epsflow::cli {

/// Shows progress: on a terminal as a bar that is erased at the end; elsewhere as a line every ten seconds.
class ProgressReport {
 public:
  explicit ProgressReport(bool wanted);
  ~ProgressReport();
  ProgressReport(const ProgressReport&) = delete;  // a stream has one report
  ProgressReport& operator=(const ProgressReport&) = delete;

  void show(const Progress& progress);

 private:
  void draw_bar(const Progress& progress);

  bool wanted_;
  bool terminal_;
  bool drawn_ = false;
  double next_line_;  // in seconds since the run began
};

/// Returns work(observer). The observer has the token `cancel`, and shows progress if `wanted`.
template <class Work>
auto watched(bool wanted, const CancelToken& cancel, Work&& work) {
  ProgressReport report(wanted);
  return work(Observer{.on_progress = [&](const Progress& progress) { report.show(progress); }, .cancel = &cancel});
}

}  // namespace epsflow::cli
