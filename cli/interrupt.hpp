// Ctrl-C becomes a cancellation.
#pragma once

#include <csignal>

#include <epsflow/core/cancel.hpp>

namespace epsflow::cli {

/// From construction to destruction SIGINT and SIGTERM set a token instead of ending the program; a second one ends it.
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
};

}  // namespace epsflow::cli
