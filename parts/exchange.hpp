// What the parts of a data set tell each other: the same calls between threads of a process and between processes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include <epsflow/core/buffer.hpp>

namespace epsflow::parts {

/// Bytes for each rank, or from each.
using Mail = std::vector<Buffer<std::byte>>;

/// One of several ranks, each of which has a part. All functions but rank(), size() and sent_bytes() are collective: every rank calls the
/// same ones in the same order, and each returns when all have called. Where a rank has failed they throw on all others: Cancelled.
class Exchange {
 public:
  Exchange() = default;
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  virtual ~Exchange() = default;

  [[nodiscard]] virtual int rank() const noexcept = 0;
  [[nodiscard]] virtual int size() const noexcept = 0;
  /// Sends send[r] to rank r. Returns what each rank has sent here.
  [[nodiscard]] virtual Mail all_to_all(Mail send) = 0;
  /// Element by element over all ranks, in place.
  virtual void sum(std::span<std::uint64_t> values) = 0;
  virtual void max(std::span<double> values) = 0;

  /// Bytes that this rank has sent to others by all_to_all().
  [[nodiscard]] std::uint64_t sent_bytes() const noexcept { return sent_bytes_; }

  // Made of those above:
  void min(std::span<double> values);
  [[nodiscard]] std::uint64_t sum(std::uint64_t value);
  [[nodiscard]] std::uint64_t max(std::uint64_t value);
  /// What the ranks below have in all.
  [[nodiscard]] std::uint64_t sum_below(std::uint64_t value);

 protected:
  std::uint64_t sent_bytes_ = 0;
};

/// Values for each rank, or from each.
template <class T>
using Letters = std::vector<std::vector<T>>;

template <class T>
[[nodiscard]] Letters<T> all_to_all(Exchange& exchange, const Letters<T>& send) {
  static_assert(std::is_trivially_copyable_v<T>);
  Mail mail;
  for (const std::vector<T>& letter : send) {
    const auto bytes = std::as_bytes(std::span(letter));
    mail.emplace_back(bytes.size());
    std::copy(bytes.begin(), bytes.end(), mail.back().begin());
  }
  mail = exchange.all_to_all(std::move(mail));
  Letters<T> received(mail.size());
  for (std::size_t r = 0; r < mail.size(); ++r) {
    received[r].resize(mail[r].size() / sizeof(T));
    if (mail[r].size() > 0) std::memcpy(received[r].data(), mail[r].data(), mail[r].size());
    mail[r] = {};
  }
  return received;
}

}  // namespace epsflow::parts
