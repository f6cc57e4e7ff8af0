// Communication of ranks through the interpreter: Python's thread carries it with any communicator.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include <epsflow/core/buffer.hpp>
#include <epsflow/core/cancel.hpp>
#include <epsflow/parts/communicator.hpp>

namespace epsflow::python {

/// The requests of a rank's run to the other ranks, one at a time, each until it is answered. Thread-safe.
class Relay final : public parts::Communicator {
 public:
  enum class Asked : std::uint8_t { nothing, mail, sum, max, over };

  Relay(int rank, int size) : Communicator(RanksAre::processes), rank_(rank), size_(size) {}

  [[nodiscard]] int rank() const noexcept override { return rank_; }
  [[nodiscard]] int size() const noexcept override { return size_; }
  using Communicator::max;
  using Communicator::sum;
  void sum(std::span<std::uint64_t> values) override;
  void max(std::span<double> values) override;

  // Called by the run:

  /// Once the token is cancelled, a waiting request throws Cancelled. Call it before the first request; the token must
  /// outlive the requests.
  void watch(const CancelToken* cancel) noexcept { cancel_ = cancel; }
  /// Ends the requests.
  void close() noexcept;

  // Called by the interpreter:

  /// Waits for a request, at most for `time`.
  [[nodiscard]] Asked wait(std::chrono::duration<double> time);
  /// The send buffer and the receive buffer of each rank.
  [[nodiscard]] std::span<const Buffer<std::byte>> outgoing() const noexcept { return send_; }
  [[nodiscard]] std::span<const Buffer<std::byte>> incoming() const noexcept { return received_; }
  /// The values to be summed or compared, in place.
  [[nodiscard]] std::span<std::uint64_t> sums() const noexcept { return sums_; }
  [[nodiscard]] std::span<double> most() const noexcept { return most_; }
  /// Lets the run continue.
  void answer() noexcept;

 protected:
  void alltoallv(Outgoing send, Incoming receive) override;

 private:
  void ask(Asked what);

  const int rank_;
  const int size_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Asked asked_ = Asked::nothing;
  const CancelToken* cancel_ = nullptr;
  // The relay owns these buffers, so that they outlive a run that is cancelled during communication.
  std::vector<Buffer<std::byte>> send_;
  std::vector<Buffer<std::byte>> received_;
  std::span<std::uint64_t> sums_;
  std::span<double> most_;
};

}  // namespace epsflow::python
