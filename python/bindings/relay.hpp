// Ranks whose mail goes through the interpreter: whatever communicator Python has carries it, on Python's own thread.
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
#include <epsflow/parts/exchange.hpp>

namespace epsflow::python {

/// What the run of a rank asks of the others, one thing at a time, until it is answered. Thread-safe.
class Relay final : public parts::Exchange {
 public:
  enum class Asked : std::uint8_t { nothing, mail, sum, max, over };

  Relay(int rank, int size) : Exchange(RanksAre::processes), rank_(rank), size_(size) {}

  [[nodiscard]] int rank() const noexcept override { return rank_; }
  [[nodiscard]] int size() const noexcept override { return size_; }
  using Exchange::max;
  using Exchange::sum;
  void sum(std::span<std::uint64_t> values) override;
  void max(std::span<double> values) override;

  // Of the run:

  /// Ends what is asked with Cancelled once the token is cancelled. Before anything is asked; the token must outlive that.
  void watch(const CancelToken* cancel) noexcept { cancel_ = cancel; }
  /// Nothing more is asked.
  void close() noexcept;

  // Of the interpreter:

  /// Waits until something is asked, but no longer than `time`.
  [[nodiscard]] Asked wait(std::chrono::duration<double> time);
  /// What is to be sent to each rank, and room for what it sends here.
  [[nodiscard]] std::span<const Buffer<std::byte>> outgoing() const noexcept { return send_; }
  [[nodiscard]] std::span<const Buffer<std::byte>> incoming() const noexcept { return received_; }
  /// The values to be summed or compared, in place.
  [[nodiscard]] std::span<std::uint64_t> sums() const noexcept { return sums_; }
  [[nodiscard]] std::span<double> most() const noexcept { return most_; }
  /// The run goes on.
  void answer() noexcept;

 protected:
  void deliver(Outgoing send, Incoming receive) override;

 private:
  void ask(Asked what);

  const int rank_;
  const int size_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Asked asked_ = Asked::nothing;
  const CancelToken* cancel_ = nullptr;
  // Of the relay, so that they outlive a run that is cancelled while the interpreter sends and receives.
  std::vector<Buffer<std::byte>> send_;
  std::vector<Buffer<std::byte>> received_;
  std::span<std::uint64_t> sums_;
  std::span<double> most_;
};

}  // namespace epsflow::python
