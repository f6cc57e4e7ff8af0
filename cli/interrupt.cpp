#include <epsflow/cli/interrupt.hpp>

namespace epsflow::cli {
namespace {

// A signal handler can only use static data.
CancelToken interrupted;
volatile std::sig_atomic_t last_signal = 0;

extern "C" void on_signal(int number) {
  last_signal = number;
  interrupted.cancel();
}

}  // namespace

InterruptGuard::InterruptGuard() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, &old_interrupt_);
  sigaction(SIGTERM, &action, &old_terminate_);
  sigaction(SIGHUP, nullptr, &old_hangup_);
  if (old_hangup_.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, nullptr);
}

InterruptGuard::~InterruptGuard() {
  sigaction(SIGINT, &old_interrupt_, nullptr);
  sigaction(SIGTERM, &old_terminate_, nullptr);
  sigaction(SIGHUP, &old_hangup_, nullptr);
}

const CancelToken& InterruptGuard::token() const noexcept { return interrupted; }

int InterruptGuard::signal() const noexcept { return last_signal; }

}  // namespace epsflow::cli
