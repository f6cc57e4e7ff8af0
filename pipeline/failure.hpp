// Records the first failure of a flow, and returns work from a backend to the graph.
#pragma once

#include <atomic>
#include <exception>
#include <mutex>
#include <utility>

#include <epsflow/core/cancel.hpp>
#include <epsflow/core/error.hpp>

namespace epsflow {

/// Records the first failure of a flow and sets the flag that stops it.
class Failure {
 public:
  explicit Failure(CancelToken& stop) : stop_(stop) {}

  void record(std::exception_ptr error) noexcept {
    {
      const std::scoped_lock lock(mutex_);
      if (first_ == nullptr) first_ = std::move(error);
    }
    stop_.cancel();
  }
  /// Runs body unless the flow has stopped, and records its exception.
  template <class F>
  void guard(F&& body) noexcept {
    if (stop_.cancelled()) return;
    try {
      body();
    } catch (...) {
      record(std::current_exception());
    }
  }
  /// Throws the first failure, if there is one; otherwise throws Cancelled if the flow was stopped. Call it after the
  /// flow has ended.
  void rethrow() const {
    if (first_ != nullptr) std::rethrow_exception(first_);
    stop_.check();
  }

 private:
  CancelToken& stop_;
  std::mutex mutex_;
  std::exception_ptr first_;
};

/// Sends the message of a piece of work back to the graph once the backend has done the work. Until then the graph does
/// not end. Whether the backend throws, calls twice or drops the work, exactly one message comes or the flow fails; it
/// never hangs.
template <class Node>
class WayBack {
 public:
  using Gateway = typename Node::gateway_type;

  WayBack(Gateway& gateway, Failure& failure) : gateway_(gateway), failure_(failure) { gateway_.reserve_wait(); }
  WayBack(const WayBack&) = delete;  // one reservation, one release
  WayBack& operator=(const WayBack&) = delete;
  ~WayBack() {
    if (used_.test_and_set()) return;
    failure_.record(
        std::make_exception_ptr(Error("the backend dropped a piece of work without a word; please report "
                                      "this defect of epsflow")));
    gateway_.release_wait();
  }

  /// Returns true for the first caller, which then works on the message and puts it.
  [[nodiscard]] bool claim() noexcept { return !claimed_.test_and_set(); }

  /// Sends the message. Only the first call has an effect.
  template <class Message>
  void put(const Message& message) noexcept {
    if (used_.test_and_set()) return;
    try {
      gateway_.try_put(message);
    } catch (...) {
      failure_.record(std::current_exception());
    }
    gateway_.release_wait();
  }

 private:
  Gateway& gateway_;
  Failure& failure_;
  std::atomic_flag claimed_;
  std::atomic_flag used_;
};

}  // namespace epsflow
