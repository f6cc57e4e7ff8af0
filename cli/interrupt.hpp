// Ctrl-C and other signals that end the program become a cancellation.
#pragma once

#include <csignal>

#include <epsflow/core/cancel.hpp>

namespace epsflow::cli {

/// While this object exists, the first SIGINT, the first SIGTERM and the first SIGHUP cancel token() instead of ending
/// the program. A second signal of the same kind ends the program. If SIGHUP was ignored, as under nohup, it stays so.
/// The destructor restores the previous handlers. All guards of the program share one token: once cancelled, it stays
/// cancelled, for later guards too.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;  // only one guard may own the handlers
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  [[nodiscard]] const CancelToken& token() const noexcept;
  /// Returns the number of the last signal; 0 without one.
  [[nodiscard]] int signal() const noexcept;

 private:
  struct sigaction old_interrupt_ {};
  struct sigaction old_terminate_ {};
  struct sigaction old_hangup_ {};
};

}  // namespace epsflow::cli
