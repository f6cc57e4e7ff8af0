// Cancellation: a flag that one thread sets and the work looks at.
#pragma once

#include <atomic>

#include <epsflow/core/error.hpp>

namespace epsflow {

/// Set from any thread or from a signal handler; work that holds a pointer to it stops within a batch.
class CancelToken {
 public:
  CancelToken() = default;
  /// Cancelled by itself or with `parent`, which may be null and otherwise must outlive it.
  explicit CancelToken(const CancelToken* parent) noexcept : parent_(parent) {}

  void cancel() noexcept { cancelled_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool cancelled() const noexcept {
    return cancelled_.load(std::memory_order_relaxed) || (parent_ != nullptr && parent_->cancelled());
  }
  /// Throws Cancelled once the token is set.
  void check() const {
    if (cancelled()) throw Cancelled();
  }

 private:
  std::atomic<bool> cancelled_{false};
  const CancelToken* parent_ = nullptr;
  static_assert(std::atomic<bool>::is_always_lock_free);  // cancel() is called from signal handlers
};

}  // namespace epsflow
