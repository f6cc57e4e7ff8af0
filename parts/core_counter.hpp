// Counts the core points of each cluster on several threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <span>

namespace epsflow::parts {

/// Counts core points in arrays that several threads share. Each thread has its own counter, which updates the arrays
/// once for consecutive points of one cluster; its destructor makes the last update.
class CoreCounter {
 public:
  /// The value of `first` for a cluster without a core point.
  static constexpr std::uint32_t kNoCore = std::numeric_limits<std::uint32_t>::max();

  /// core: [clusters] the counts to add to. first: [clusters] initially kNoCore, lowered to the smallest point added;
  /// or empty.
  explicit CoreCounter(std::span<std::uint32_t> core, std::span<std::uint32_t> first = {}) noexcept
      : core_(core), first_(first) {}
  CoreCounter(const CoreCounter&) = delete;
  CoreCounter& operator=(const CoreCounter&) = delete;
  ~CoreCounter() { flush(); }

  /// Adds a core point. The points of one counter must ascend if `first` is given.
  void add(std::uint32_t cluster, std::uint32_t point) noexcept {
    if (count_ == 0 || cluster != cluster_) {
      flush();
      cluster_ = cluster;
      begin_ = point;
    }
    ++count_;
  }

 private:
  void flush() noexcept {
    if (count_ == 0) return;
    std::atomic_ref(core_[cluster_]).fetch_add(count_, std::memory_order_relaxed);
    count_ = 0;
    if (first_.empty()) return;
    const std::atomic_ref first(first_[cluster_]);
    std::uint32_t old = first.load(std::memory_order_relaxed);
    while (begin_ < old && !first.compare_exchange_weak(old, begin_, std::memory_order_relaxed)) {
    }
  }

  std::span<std::uint32_t> core_;
  std::span<std::uint32_t> first_;
  std::uint32_t cluster_ = 0;
  std::uint32_t begin_ = 0;
  std::uint32_t count_ = 0;
};

}  // namespace epsflow::parts
