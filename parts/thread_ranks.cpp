#include <epsflow/parts/thread_ranks.hpp>

#include <algorithm>
#include <atomic>
#include <exception>
#include <limits>
#include <mutex>
#include <thread>
#include <utility>

#include <epsflow/core/error.hpp>

namespace epsflow::parts {
namespace {

/// A barrier for all ranks, which a failing rank releases.
class Meeting {
 public:
  explicit Meeting(int ranks) : ranks_(ranks) {}

  /// Waits for all ranks. Throws Cancelled if a rank has failed.
  void wait() {
    const int round = round_.load();
    if (round == kFailed) throw Cancelled();
    if (waiting_.fetch_add(1) + 1 == ranks_) {
      waiting_ = 0;
      int last = round;
      if (round_.compare_exchange_strong(last, (round + 1) % kFailed)) return round_.notify_all();
    }
    round_.wait(round);
    if (round_.load() == kFailed) throw Cancelled();
  }
  void fail(std::exception_ptr reason) {
    const std::scoped_lock lock(mutex_);
    if (failed_ == nullptr) failed_ = std::move(reason);
    round_ = kFailed;
    round_.notify_all();
  }
  void rethrow() const {
    if (failed_ != nullptr) std::rethrow_exception(failed_);
  }

 private:
  static constexpr int kFailed = std::numeric_limits<int>::max();

  const int ranks_;
  // Atomics, so that waiting ranks continue without a lock.
  std::atomic<int> waiting_{0};
  std::atomic<int> round_{0};
  std::mutex mutex_;
  std::exception_ptr failed_;
};

/// The memory in which ranks exchange data between two barriers.
struct ExchangeMemory {
  explicit ExchangeMemory(int ranks)
      : meeting(ranks), letters(static_cast<std::size_t>(ranks)), sums(letters.size()), most(letters.size()) {}

  Meeting meeting;
  std::vector<std::span<const std::span<const std::byte>>> letters;  ///< [from][to]
  std::vector<std::span<std::uint64_t>> sums;                        ///< [rank]
  std::vector<std::span<double>> most;                               ///< [rank]
};

class ThreadCommunicator final : public Communicator {
 public:
  ThreadCommunicator(ExchangeMemory& memory, int rank)
      : Communicator(RanksAre::threads), memory_(memory), rank_(rank), me_(static_cast<std::size_t>(rank)) {}

  [[nodiscard]] int rank() const noexcept override { return rank_; }
  [[nodiscard]] int size() const noexcept override { return static_cast<int>(memory_.letters.size()); }

  using Communicator::max;
  using Communicator::sum;
  void sum(std::span<std::uint64_t> values) override {
    fold(memory_.sums, values, [](std::uint64_t a, std::uint64_t b) { return a + b; });
  }
  void max(std::span<double> values) override {
    fold(memory_.most, values, [](double a, double b) { return std::max(a, b); });
  }

 protected:
  void alltoallv(Outgoing send, Incoming receive) override {
    memory_.letters[me_] = send;
    memory_.meeting.wait();
    for (std::size_t r = 0; r < receive.size(); ++r) {
      copy_bytes(memory_.letters[r][me_].data(), receive[r].size(), receive[r].data());
    }
    memory_.meeting.wait();
  }

 private:
  /// Combines the terms in the same order on every rank.
  template <class T, class F>
  void fold(std::vector<std::span<T>>& all, std::span<T> mine, F&& f) {
    all[me_] = mine;
    memory_.meeting.wait();
    std::vector<T> result(all.front().begin(), all.front().end());
    for (std::size_t r = 1; r < all.size(); ++r) {
      for (std::size_t i = 0; i < result.size(); ++i) result[i] = f(result[i], all[r][i]);
    }
    memory_.meeting.wait();
    std::copy(result.begin(), result.end(), mine.begin());
  }

  ExchangeMemory& memory_;
  int rank_;
  std::size_t me_;
};

}  // namespace

void run_ranks(int ranks, const std::function<void(Communicator&)>& body) {
  ExchangeMemory memory(ranks);
  std::vector<std::thread> threads;
  try {
    threads.reserve(static_cast<std::size_t>(ranks));
    for (int rank = 0; rank < ranks; ++rank) {
      threads.emplace_back([&, rank] {
        try {
          ThreadCommunicator communicator(memory, rank);
          body(communicator);
        } catch (...) {
          memory.meeting.fail(std::current_exception());
        }
      });
    }
  } catch (...) {  // no more threads can be started
    memory.meeting.fail(std::current_exception());
  }
  for (std::thread& thread : threads) thread.join();
  memory.meeting.rethrow();
}

void run_together(std::size_t bodies, CancelToken& stop, const std::function<void(std::size_t)>& body) {
  std::mutex mutex;
  std::exception_ptr first;
  try {
    run_ranks(static_cast<int>(bodies), [&](Communicator& communicator) {
      try {
        body(static_cast<std::size_t>(communicator.rank()));
      } catch (const Cancelled&) {
        stop.cancel();
        throw;
      } catch (...) {
        {
          const std::scoped_lock lock(mutex);
          if (first == nullptr) first = std::current_exception();
        }
        stop.cancel();
        throw;
      }
    });
  } catch (...) {
    if (first != nullptr) std::rethrow_exception(first);
    throw;
  }
}

}  // namespace epsflow::parts
