// How far a run is, on standard error.
#pragma once

#include <epsflow/core/cancel.hpp>
#include <epsflow/pipeline/options.hpp>

namespace epsflow::cli {

/// Draws on a terminal a bar, which wipes itself at the end; elsewhere, as in the log of a batch job, it says a line
/// every ten seconds.
class ProgressReport {
 public:
  explicit ProgressReport(bool wanted);
  ~ProgressReport();
  ProgressReport(const ProgressReport&) = delete;  // one stream, one report
  ProgressReport& operator=(const ProgressReport&) = delete;

  void show(const Progress& progress);

 private:
  void draw_bar(const Progress& progress);

  bool wanted_;
  bool terminal_;
  bool drawn_ = false;
  double next_line_;  // seconds since the run began
};

/// Calls work(observer). Shows how far it is if `wanted`; the token cancels it.
template <class Work>
auto watched(bool wanted, const CancelToken& cancel, Work&& work) {
  ProgressReport report(wanted);
  return work(Observer{.on_progress = [&](const Progress& progress) { report.show(progress); }, .cancel = &cancel});
}

}  // namespace epsflow::cli
