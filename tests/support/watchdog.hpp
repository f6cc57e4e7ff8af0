// If a test hangs, the program must abort with the name of the test.
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

/// Aborts the program if it uses no processor time for `limit`, or more than four times `limit`, before the watchdog is
/// destroyed. Processor time is measured because a busy machine makes every test slower.
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
    constexpr Seconds kNothing{0.01};  // processor time per period that the watchdog itself may use
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

  /// Returns the processor time of all threads of the program.
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
