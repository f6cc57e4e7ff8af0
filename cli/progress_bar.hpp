// The progress bar on a terminal.
#pragma once

#include <epsflow/pipeline/options.hpp>

namespace epsflow::cli {

/// Draws on standard error when that is a terminal, and nothing otherwise; wipes itself at the end.
class ProgressBar {
 public:
  explicit ProgressBar(bool wanted);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;  // one terminal, one bar
  ProgressBar& operator=(const ProgressBar&) = delete;

  void show(const Progress& progress);

 private:
  bool on_;
  bool drawn_ = false;
};

}  // namespace epsflow::cli
