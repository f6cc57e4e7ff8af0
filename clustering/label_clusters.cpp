#include <epsflow/clustering/label_clusters.hpp>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <limits>
#include <string>
#include <vector>

#include <epsflow/clustering/row_loops.hpp>
#include <epsflow/clustering/union_find.hpp>
#include <epsflow/core/error.hpp>

namespace epsflow::clustering {
namespace {

constexpr std::uint32_t kNoNumber = kNoCluster;

template <class F>
void parallel_positions(std::size_t n, const CancelToken& cancel, F&& f) {
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, n, 1 << 15), [&](const tbb::blocked_range<std::size_t>& r) {
    if (!cancel.cancelled()) f(static_cast<std::uint32_t>(r.begin()), static_cast<std::uint32_t>(r.end()));
  });
  cancel.check();
}

void store_smaller(std::uint32_t& place, std::uint32_t value) {
  const std::atomic_ref<std::uint32_t> ref(place);
  std::uint32_t old = ref.load(std::memory_order_relaxed);
  while (value < old && !ref.compare_exchange_weak(old, value, std::memory_order_relaxed)) {
  }
}

/// A set of ids that tells how many smaller ones it holds.
class RankedIds {
 public:
  explicit RankedIds(std::size_t n) : words_(n / 64 + 1), ranks_(n / 64 + 1) {}

  /// Thread-safe.
  void insert(std::uint32_t id) noexcept {
    std::atomic_ref<std::uint64_t>(words_[id / 64]).fetch_or(std::uint64_t{1} << (id % 64), std::memory_order_relaxed);
  }
  /// To be called between the last insert and the first rank. Returns the number of ids.
  std::uint32_t finish() noexcept {
    std::uint32_t sum = 0;
    for (std::size_t w = 0; w < words_.size(); ++w) {
      ranks_[w] = sum;
      sum += static_cast<std::uint32_t>(std::popcount(words_[w]));
    }
    return sum;
  }
  [[nodiscard]] std::uint32_t rank(std::uint32_t id) const noexcept {
    const std::uint64_t smaller = words_[id / 64] & ((std::uint64_t{1} << (id % 64)) - 1);
    return ranks_[id / 64] + static_cast<std::uint32_t>(std::popcount(smaller));
  }

 private:
  std::vector<std::uint64_t> words_;
  std::vector<std::uint32_t> ranks_;
};

/// number[root] becomes the number of the root's cluster; returns how many there are.
std::uint32_t number_clusters(std::span<const std::uint32_t> order, std::span<std::uint32_t> parent,
                              std::span<std::uint32_t> number, const CancelToken& cancel) {
  const std::size_t n = order.size();
  const UnionFind sets(parent);
  parallel_positions(n, cancel, [&](std::uint32_t first, std::uint32_t last) {
    for (std::uint32_t x = first; x < last; ++x) {
      number[x] = kNoNumber;
      if (sets.parent(x) != kNotCore) sets.flatten(x);
    }
  });
  // Smallest id of each cluster. Neighbouring positions are mostly in one cluster: one atomic per stretch, not per
  // point.
  parallel_positions(n, cancel, [&](std::uint32_t first, std::uint32_t last) {
    std::uint32_t root = kNotCore;
    std::uint32_t smallest = kNoNumber;
    for (std::uint32_t x = first; x < last; ++x) {
      if (parent[x] == kNotCore) continue;
      if (parent[x] != root) {
        if (root != kNotCore) store_smaller(number[root], smallest);
        root = parent[x];
        smallest = kNoNumber;
      }
      smallest = std::min(smallest, order[x]);
    }
    if (root != kNotCore) store_smaller(number[root], smallest);
  });
  RankedIds ids(n);
  parallel_positions(n, cancel, [&](std::uint32_t first, std::uint32_t last) {
    for (std::uint32_t x = first; x < last; ++x) {
      if (parent[x] == x) ids.insert(number[x]);
    }
  });
  const std::uint32_t clusters = ids.finish();
  parallel_positions(n, cancel, [&](std::uint32_t first, std::uint32_t last) {
    for (std::uint32_t x = first; x < last; ++x) {
      if (parent[x] == x) number[x] = ids.rank(number[x]);
    }
  });
  return clusters;
}

/// Sizes of clusters, counted by stretches of equal labels.
class SizeCounter {
 public:
  explicit SizeCounter(std::span<std::uint32_t> sizes) noexcept : sizes_(sizes) {}
  SizeCounter(const SizeCounter&) = delete;
  SizeCounter& operator=(const SizeCounter&) = delete;
  ~SizeCounter() { flush(); }

  void add(std::uint32_t cluster) noexcept {
    if (cluster != cluster_) {
      flush();
      cluster_ = cluster;
    }
    ++count_;
  }

 private:
  void flush() noexcept {
    if (count_ > 0) std::atomic_ref<std::uint32_t>(sizes_[cluster_]).fetch_add(count_, std::memory_order_relaxed);
    count_ = 0;
  }

  std::span<std::uint32_t> sizes_;
  std::uint32_t cluster_ = kNoNumber;
  std::uint32_t count_ = 0;
};

}  // namespace

LabelSummary label_clusters(const NeighborTable& table, std::span<const std::uint32_t> order,
                            std::span<std::uint32_t> parent, std::span<std::uint32_t> number,
                            std::span<std::int32_t> labels, const CancelToken& cancel) {
  const std::uint32_t clusters = number_clusters(order, parent, number, cancel);
  if (clusters > static_cast<std::uint32_t>(std::numeric_limits<std::int32_t>::max())) {
    throw ResourceError(std::to_string(clusters) + " clusters do not fit int32 labels: raise eps or minpts");
  }
  std::vector<std::uint32_t> sizes(clusters);
  std::atomic<std::uint64_t> core{0};
  std::atomic<std::uint64_t> border{0};
  tbb::parallel_for(std::size_t{0}, table.blocks().size(), [&](std::size_t b) {
    if (cancel.cancelled()) return;
    SizeCounter counter(sizes);
    std::uint64_t block_core = 0;
    std::uint64_t block_border = 0;
    std::array<std::uint32_t, 1024> clusters_of{};
    const Run block = table.blocks()[b];
    for (std::uint32_t first = block.begin; first < block.end;) {
      const std::uint32_t last = first + std::min<std::uint32_t>(block.end - first, clusters_of.size());
      find_clusters(table, {first, last}, parent.data(), number.data(), clusters_of.data());
      for (std::uint32_t row = first; row < last; ++row) {
        const std::uint32_t cluster = clusters_of[row - first];
        labels[order[row]] = cluster == kNoCluster ? kNoise : static_cast<std::int32_t>(cluster);
        if (cluster == kNoCluster) continue;
        counter.add(cluster);
        ++(parent[row] == kNotCore ? block_border : block_core);
      }
      first = last;
    }
    core.fetch_add(block_core, std::memory_order_relaxed);
    border.fetch_add(block_border, std::memory_order_relaxed);
  });
  cancel.check();
  LabelSummary summary;
  summary.clusters = clusters;
  summary.core = core;
  summary.border = border;
  summary.noise = order.size() - summary.core - summary.border;
  summary.largest = sizes.empty() ? 0 : *std::max_element(sizes.begin(), sizes.end());
  return summary;
}

}  // namespace epsflow::clustering
