// Cancels work before it begins, or while it runs.
#pragma once

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

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

/// Cancels work(token) at several moments, and returns how long it goes on then, as a share of the time that it takes
/// if it is not cancelled: the median, because a busy machine may delay some of them. 1 if it mostly ends by itself.
template <class Work>
double share_after_cancel(Work&& work) {
  const Stopwatch whole;
  work(CancelToken());
  const double seconds = whole.seconds();
  std::vector<double> shares;
  for (int part = 1; part <= 7; ++part) {
    CancelToken token;
    Stopwatch since;
    std::jthread canceller([&, wait = seconds * part / 10] {
      std::this_thread::sleep_for(std::chrono::duration<double>(wait));
      since = Stopwatch();
      token.cancel();
    });
    try {
      work(token);
      shares.push_back(1);
    } catch (const Cancelled&) {
      canceller.join();
      shares.push_back(since.seconds() / seconds);
    }
  }
  std::sort(shares.begin(), shares.end());
  return shares[shares.size() / 2];
}

}  // namespace epsflow::test
