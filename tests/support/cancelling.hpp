// Cancels work before it begins, or while it runs.
#pragma once

#include <chrono>
#include <thread>

#include <epsflow/core/cancel.hpp>
#include <epsflow/core/stopwatch.hpp>
#include <epsflow/pipeline/options.hpp>

namespace epsflow::test {

/// Returns an observer whose token is set.
inline Observer cancelled() {
  static CancelToken token;
  token.cancel();
  return {.cancel = &token};
}

/// Returns true if work(token) throws Cancelled when the token is set after a quarter of the time that it takes. The
/// time may vary, so there are several attempts.
template <class Work>
bool ends_when_cancelled(Work&& work) {
  double seconds = 0;
  for (int attempt = 0; attempt < 20; ++attempt) {
    CancelToken token;
    std::jthread canceller;
    if (attempt > 0) {
      canceller = std::jthread([&token, wait = seconds / 4] {
        std::this_thread::sleep_for(std::chrono::duration<double>(wait));
        token.cancel();
      });
    }
    const Stopwatch time;
    try {
      work(token);
      seconds = time.seconds();
    } catch (const Cancelled&) {
      return true;
    }
  }
  return false;
}

}  // namespace epsflow::test
