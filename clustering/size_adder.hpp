// Adds points to the sizes of clusters from several threads.
#pragma once

#include <atomic>
#include <cstdint>

namespace epsflow::clustering {

/// Used by one thread; several objects may add to the same sizes at once. Sums stretches of equal clusters: one atomic
/// operation per stretch, not per point. The destructor adds the last stretch. sizes: [clusters]
class SizeAdder {
 public:
  explicit SizeAdder(std::uint32_t* sizes) noexcept : sizes_(sizes) {}
  SizeAdder(const SizeAdder&) = delete;
  SizeAdder& operator=(const SizeAdder&) = delete;
  ~SizeAdder() { flush(); }

  void add(std::uint32_t cluster, std::uint32_t points = 1) noexcept {
    if (cluster != cluster_) {
      flush();
      cluster_ = cluster;
    }
    points_ += points;
  }

 private:
  void flush() noexcept {
    if (points_ > 0) std::atomic_ref<std::uint32_t>(sizes_[cluster_]).fetch_add(points_, std::memory_order_relaxed);
    points_ = 0;
  }

  std::uint32_t* sizes_;
  std::uint32_t cluster_ = 0;
  std::uint32_t points_ = 0;
};

}  // namespace epsflow::clustering
