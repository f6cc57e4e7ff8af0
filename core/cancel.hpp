// Cancellation: a flag that one thread sets and the work polls.
#pragma once

#include <atomic>

#include <epsflow/core/error.hpp>

namespace epsflow {

/// A flag that any thread or a signal handler may set. Work that holds a pointer to it then stops, at the end of its
/// current batch at the latest. (A batch is a number of points whose neighbours are searched together.)
class CancelToken {
 public:
  CancelToken() = default;
  /// A token that counts as cancelled once it or its `parent` is set. parent: null, or outlives this token.
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
