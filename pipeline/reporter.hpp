// Passes results and progress to the caller, one call at a time.
#pragma once

#include <exception>
#include <functional>
#include <limits>
#include <mutex>

#include <epsflow/core/stopwatch.hpp>
#include <epsflow/pipeline/options.hpp>

namespace epsflow {

/// Passes results and progress to the caller. Thread-safe. After a callback has thrown, no other is called.
class Reporter {
 public:
  /// `observer` must outlive it.
  Reporter(const Observer& observer, std::size_t variants);

  /// Runs hand_over(), counts a variant as done and reports it. Throws the exception of the caller's code. If that has
  /// thrown before, on any thread, throws that exception again and calls nothing.
  void done(const std::function<void()>& hand_over);

  /// Records which share, 0 to 1, of the table of an eps is done. Reports it, unless another thread is reporting or the
  /// last report is less than 0.05 s old; then the next report includes it. Throws as done() does.
  void progress(double eps, double share);

 private:
  template <class F>
  void call(F&& f);
  void report(bool always);

  const Observer& observer_;
  std::mutex mutex_;
  std::mutex table_mutex_;  ///< guards only the next two, so that no thread waits here for the caller's code
  double table_eps_ = 0;
  double table_share_ = 0;
  std::exception_ptr failed_;  ///< the first exception of a callback
  const Stopwatch time_;
  double reported_ = -std::numeric_limits<double>::infinity();  ///< seconds of the last report
  Progress progress_;
};

}  // namespace epsflow
