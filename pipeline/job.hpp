// A run in the background.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include <epsflow/core/labels.hpp>
#include <epsflow/core/sweep.hpp>
#include <epsflow/pipeline/engine.hpp>
#include <epsflow/pipeline/options.hpp>

namespace epsflow {

/// A run that start() began. Move-only; when it goes, the run is cancelled and waited for, so none of its callbacks may let
/// it go. cancel() and wait_for() may be called from any thread. It holds its data set until results() or its end.
class Job {
 public:
  Job(Job&&) noexcept;
  Job& operator=(Job&&) noexcept;
  ~Job();

  /// Waits until the run has ended, well or not, but no longer than `time`. Returns whether it has ended.
  bool wait_for(std::chrono::nanoseconds time) const;
  /// Asks the run to stop, which takes some tens of milliseconds. Does not wait.
  void cancel() noexcept;
  /// Waits for the end. One result per variant, in the sweep's order, once; empty where they went to on_result. Throws
  /// what run() throws, Cancelled after cancel().
  [[nodiscard]] std::vector<VariantResult> results();

 private:
  struct State;
  friend Job start(const Dataset&, const Sweep&, const RunOptions&, const Observer&,
                   std::function<void(VariantResult&&)>);
  explicit Job(std::unique_ptr<State> state) noexcept;

  std::unique_ptr<State> state_;
};

/// run() in the background; with `on_result` run_each(). Returns at once. What `observer` points to must outlive the job,
/// its callbacks are called from other threads. A run waits until earlier ones of its engine have ended. Throws
/// ResourceError where the system has no thread for it.
[[nodiscard]] Job start(const Dataset& data, const Sweep& sweep, const RunOptions& options = {},
                        const Observer& observer = {}, std::function<void(VariantResult&&)> on_result = nullptr);

}  // namespace epsflow
