// Communication of ranks through the interpreter: a thread of Python exchanges the data by mpi4py (epsflow/_ranks.py).
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

/// The communicator of one rank, whose run is on a thread of its own. The run's thread puts one request at a time and
/// waits. The interpreter's thread gets the request from wait(), carries it out together with the other ranks, and
/// calls answer(). If that fails, it cancels the token of watch() instead.
class Relay final : public parts::Communicator {
 public:
  /// The request of the run. nothing: there is none. mail: send outgoing() and fill incoming(). sum: replace sums() by
  /// the sums over all ranks. max: replace most() by the maxima over all ranks. over: the run has ended.
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
  /// Reports that the run has ended: wait() returns Asked::over from then on.
  void close() noexcept;

  // Called by the interpreter:

  /// Waits for a request, at most for `time`, and returns it; Asked::nothing if there is none by then.
  [[nodiscard]] Asked wait(std::chrono::duration<double> time);
  /// Return [ranks] the bytes to send to each rank, and the buffers to fill with the bytes from each rank, which have
  /// the right sizes. The bytes may be written although the buffers are const. Valid for Asked::mail until answer().
  [[nodiscard]] std::span<const Buffer<std::byte>> outgoing() const noexcept { return send_; }
  [[nodiscard]] std::span<const Buffer<std::byte>> incoming() const noexcept { return received_; }
  /// Return the values of Asked::sum, and of Asked::max. The caller replaces them by the results. Valid until answer().
  [[nodiscard]] std::span<std::uint64_t> sums() const noexcept { return sums_; }
  [[nodiscard]] std::span<double> most() const noexcept { return most_; }
  /// Reports that the request was carried out, so that the run continues.
  void answer() noexcept;

 protected:
  void alltoallv(Outgoing send, Incoming receive) override;

 private:
  /// Puts a request and waits until it is answered. Throws Cancelled.
  void ask(Asked what);

  const int rank_;
  const int size_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Asked asked_ = Asked::nothing;
  const CancelToken* cancel_ = nullptr;
  // The relay owns the buffers of send_ and received_, so that they outlive a run that is cancelled during
  // communication. sums_ and most_ are values of the run.
  std::vector<Buffer<std::byte>> send_;
  std::vector<Buffer<std::byte>> received_;
  std::span<std::uint64_t> sums_;
  std::span<double> most_;
};

}  // namespace epsflow::python
