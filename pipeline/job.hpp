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

/// A run in the background, begun by start(). Move-only. Its destructor cancels the run and waits for its end, so a
/// callback of the run must not destroy the job. cancel() and wait_for() may be called from any thread. The job keeps
/// its data set until results() has returned or the job is destroyed.
class Job {
 public:
  Job(Job&&) noexcept;
  Job& operator=(Job&&) noexcept;
  ~Job();

  /// Waits until the run has ended, well or not, but no longer than `time`. Returns whether it has ended.
  bool wait_for(std::chrono::nanoseconds time) const;
  /// Requests the run to stop, which takes some tens of milliseconds. Does not wait.
  void cancel() noexcept;
  /// Waits for the end and returns one result per variant, in the sweep's order; none if on_result has received them.
  /// Call it once. Throws the exceptions of run(), Cancelled after cancel(), and Error for a second call.
  [[nodiscard]] std::vector<VariantResult> results();

 private:
  struct State;
  friend Job start(const Dataset&, const Sweep&, const RunOptions&, const Observer&,
                   std::function<void(VariantResult&&)>);
  explicit Job(std::unique_ptr<State> state) noexcept;

  std::unique_ptr<State> state_;
};

/// Starts run() in the background and returns at once. If `on_result` is given, it is called with each result as soon
/// as it is finished. Objects that `observer` points to must outlive the job. The callbacks of `observer` and
/// `on_result` are called from other threads. The run waits until earlier runs of its engine have ended. Throws
/// ResourceError if the system cannot start a thread.
[[nodiscard]] Job start(const Dataset& data, const Sweep& sweep, const RunOptions& options = {},
                        const Observer& observer = {}, std::function<void(VariantResult&&)> on_result = nullptr);

}  // namespace epsflow
