// Communication between the ranks of a sweep. Threads of one process and processes use the same calls.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include <epsflow/core/buffer.hpp>

namespace epsflow::parts {

class SharedMemoryPeers;

/// The communicator of one of several ranks. All functions except rank(), size(), threads() and sent_bytes() are
/// collective: every rank calls the same ones in the same order. They return after all ranks have called; between
/// processes, all_to_all() may wait only for ranks with which this rank exchanges data. If a rank that is a thread
/// fails, they throw Cancelled on all others. mpi::run_world() ends all processes instead (mpi/mpi_ranks.hpp).
class Communicator {
 public:
  /// threads: the ranks are threads of one process. processes: those on one machine read each other's memory if the
  /// system permits it. apart: processes that never read each other's memory.
  enum class RanksAre : std::uint8_t { threads, processes, apart };
  explicit Communicator(RanksAre ranks);
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  virtual ~Communicator();

  [[nodiscard]] virtual int rank() const noexcept = 0;
  [[nodiscard]] virtual int size() const noexcept = 0;
  /// True if all ranks are threads of this process.
  [[nodiscard]] bool threads() const noexcept { return ranks_are_ == RanksAre::threads; }
  /// Sends counts[r] to rank r. Returns the counts received, by sender.
  [[nodiscard]] virtual std::vector<std::uint64_t> exchange_counts(std::span<const std::uint64_t> counts);
  /// Sums element by element over all ranks, in place. max() takes the largest in the same way.
  virtual void sum(std::span<std::uint64_t> values) = 0;
  virtual void max(std::span<double> values) = 0;

  /// Sends elements of `bytes` bytes each. Elements [send_begins[r], send_begins[r + 1]) of `send` go to rank r; those
  /// from rank r become elements [receive_begins[r], receive_begins[r + 1]) of `receive`. Both lists are [ranks + 1].
  /// The receiver must know the counts of its senders, for example from exchange_counts().
  void all_to_all(const void* send, std::span<const std::size_t> send_begins, void* receive,
                  std::span<const std::size_t> receive_begins, std::size_t bytes);

  /// Bytes that this rank has sent to other ranks by all_to_all().
  [[nodiscard]] std::uint64_t sent_bytes() const noexcept { return sent_bytes_; }

  /// Takes the smallest element by element over all ranks, in place.
  void min(std::span<double> values);
  /// Return the sum and the largest of the values of all ranks.
  [[nodiscard]] std::uint64_t sum(std::uint64_t value);
  [[nodiscard]] std::uint64_t max(std::uint64_t value);
  /// Returns the sum of the values of all lower ranks.
  [[nodiscard]] std::uint64_t exclusive_scan(std::uint64_t value);

 protected:
  using Outgoing = std::span<const std::span<const std::byte>>;
  using Incoming = std::span<const std::span<std::byte>>;
  /// Sends send[r] to rank r, and fills receive[r] with the bytes that rank r sends, which are receive[r].size() many.
  /// Entries of the rank itself are empty.
  virtual void alltoallv(Outgoing send, Incoming receive) = 0;

 private:
  RanksAre ranks_are_;
  std::unique_ptr<SharedMemoryPeers> peers_;  ///< made by the first all_to_all() if ranks are processes
  std::uint64_t sent_bytes_ = 0;
};

/// Copies bytes, in parallel.
void copy_bytes(const void* from, std::size_t bytes, void* to);

/// counts: number of elements of each rank. Returns [ranks + 1] where the elements of each rank begin, from `first` on,
/// and the end.
template <class Counts>
[[nodiscard]] std::vector<std::size_t> begins_of(const Counts& counts, std::size_t first = 0) {
  std::vector<std::size_t> begins{first};
  for (const auto count : counts) begins.push_back(begins.back() + static_cast<std::size_t>(count));
  return begins;
}

/// [ranks] values to each rank, or from each rank.
template <class T>
using PerRank = std::vector<std::vector<T>>;

/// Sends send[r] to rank r. Returns the values received, by sender. Collective.
template <class T>
[[nodiscard]] PerRank<T> all_to_all(Communicator& communicator, const PerRank<T>& send) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::vector<std::uint64_t> counts;
  for (const std::vector<T>& letter : send) counts.push_back(letter.size());
  const auto send_begins = begins_of(counts);
  counts = communicator.exchange_counts(counts);
  const auto begins = begins_of(counts);
  Buffer<T> outgoing(send_begins.back()), incoming(begins.back());
  for (std::size_t r = 0; r < send.size(); ++r)
    std::copy(send[r].begin(), send[r].end(), outgoing.begin() + send_begins[r]);
  communicator.all_to_all(outgoing.data(), send_begins, incoming.data(), begins, sizeof(T));
  PerRank<T> received(send.size());
  for (std::size_t r = 0; r < received.size(); ++r) {
    received[r].assign(incoming.begin() + begins[r], incoming.begin() + begins[r + 1]);
  }
  return received;
}

}  // namespace epsflow::parts
