// Ctrl-C, and whatever else asks the program to end, becomes a cancellation.
#pragma once

#include <csignal>

#include <epsflow/core/cancel.hpp>

namespace epsflow::cli {

/// From construction to destruction SIGINT, SIGTERM and SIGHUP set a token instead of ending the program; a second one
/// ends it. If SIGHUP was ignored, as under nohup, it stays so.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;  // the handlers belong to one guard
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  [[nodiscard]] const CancelToken& token() const noexcept;

 private:
  struct sigaction old_interrupt_ {};
  struct sigaction old_terminate_ {};
  struct sigaction old_hangup_ {};
};

}  // namespace epsflow::cli
