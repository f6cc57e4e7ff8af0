// Hands results and progress to the caller, one at a time.
#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <mutex>

#include <epsflow/pipeline/options.hpp>

namespace epsflow {

/// Thread-safe. After a callback of the caller has thrown, no other is called.
class Reporter {
 public:
  /// `observer` must outlive it.
  Reporter(const Observer& observer, std::size_t variants);

  /// Runs hand_over(), counts a variant as done and reports it. Throws what the caller's code throws, or threw before:
  /// whoever is first to record it, it is the caller's own exception that ends the run.
  void done(const std::function<void()>& hand_over);

  /// Rows of a table have arrived. Where somebody reports already the next report says so.
  void moved(double eps, double share);

 private:
  template <class F>
  void call(F&& f);
  void report(bool always);

  using Clock = std::chrono::steady_clock;
  const Observer& observer_;
  std::mutex mutex_;
  std::mutex table_mutex_;  ///< of the two below alone, so that nobody waits here for the caller's code
  double table_eps_ = 0;
  double table_share_ = 0;
  std::exception_ptr failed_;  ///< what a callback of the caller threw first
  const Clock::time_point begin_ = Clock::now();
  Clock::time_point reported_{};
  Progress progress_;
};

}  // namespace epsflow
