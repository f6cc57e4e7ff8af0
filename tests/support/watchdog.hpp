// A test that hangs must end with its name, not with the patience of whoever started it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

namespace epsflow::test {

/// Aborts the program where it stands still for `limit`, or works for four times as long, before this is destroyed. Processor time
/// tells, so that a busy machine, where everything takes longer, is no reason.
class Watchdog {
 public:
  explicit Watchdog(std::string what, std::chrono::seconds limit = std::chrono::seconds(30))
      : what_(std::move(what)), thread_([this, limit] { watch(limit); }) {}
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog() {
    {
      const std::scoped_lock lock(mutex_);
      done_ = true;
    }
    woken_.notify_one();
    thread_.join();
  }

 private:
  using Seconds = std::chrono::duration<double>;

  void watch(Seconds limit) {
    constexpr Seconds kNothing{0.01};  // of processor time in a period: what watching itself takes, and more
    constexpr std::chrono::seconds kPeriod{1};
    const Seconds begin = worked();
    Seconds last = begin;
    Seconds still{0};
    std::unique_lock lock(mutex_);
    while (!woken_.wait_for(lock, kPeriod, [this] { return done_; })) {
      const Seconds now = worked();
      still = now - last > kNothing ? Seconds{0} : still + kPeriod;
      last = now;
      if (still < limit && now - begin < 4 * limit) continue;
      std::fprintf(stderr, "hangs: %s\n", what_.c_str());
      std::abort();
    }
  }

  /// Processor time of all threads of the program.
  static Seconds worked() {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
  }

  std::string what_;
  std::mutex mutex_;
  std::condition_variable woken_;
  bool done_ = false;
  std::thread thread_;
};

}  // namespace epsflow::test
