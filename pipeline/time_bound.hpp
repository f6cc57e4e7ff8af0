// A bound on the time of an exploration.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include <epsflow/core/cancel.hpp>

namespace epsflow {

/// Cancels what is under way once the time is spent.
class TimeBound {
 public:
  /// seconds: from now on; nothing: no bound. caller: null, or what cancels the work, too; it must outlive this. Throws UsageError
  /// unless seconds is above 0.
  TimeBound(std::optional<double> seconds, const CancelToken* caller);
  TimeBound(const TimeBound&) = delete;
  TimeBound& operator=(const TimeBound&) = delete;
  ~TimeBound();

  [[nodiscard]] bool given() const noexcept { return seconds_.has_value(); }
  /// 0 and less once it is spent; infinity without a bound.
  [[nodiscard]] double left() const noexcept;
  /// Cancelled by the caller, and once the time is spent.
  [[nodiscard]] const CancelToken& token() const noexcept { return token_; }
  /// After work was cancelled: throws Cancelled if the caller did it.
  void require_spent() const;
  /// Throws UsageError: nothing is there yet that might be told.
  [[noreturn]] void refuse() const;

 private:
  using Clock = std::chrono::steady_clock;

  const std::optional<double> seconds_;
  const CancelToken* const caller_;
  const Clock::time_point end_;
  CancelToken token_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool over_ = false;
  std::thread alarm_;
};

}  // namespace epsflow
