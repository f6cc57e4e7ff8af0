#include <epsflow/clustering/label_clusters.hpp>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <limits>
#include <string>
#include <vector>

#include <epsflow/clustering/union_find.hpp>
#include <epsflow/core/buffer.hpp>
#include <epsflow/core/error.hpp>

namespace epsflow::clustering {
namespace {

constexpr std::uint32_t kNoNumber = kNoCluster;

template <class F>
void parallel_nodes(std::size_t n, const CancelToken& cancel, F&& f) {
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
std::uint32_t number_clusters(const ClusterSource& source, std::uint32_t minpts, std::span<std::uint32_t> parent,
                              std::span<std::uint32_t> number, const CancelToken& cancel) {
  const UnionFind sets(parent);
  parallel_nodes(parent.size(), cancel, [&](std::uint32_t first, std::uint32_t last) {
    for (std::uint32_t x = first; x < last; ++x) {
      number[x] = kNoNumber;
      if (sets.parent(x) != kNotCore) sets.flatten(x);
    }
  });
  // Smallest id of each cluster. Neighbouring nodes are mostly in one cluster: one atomic per stretch, not per node.
  parallel_nodes(parent.size(), cancel, [&](std::uint32_t first, std::uint32_t last) {
    std::uint32_t root = kNotCore;
    std::uint32_t smallest = kNoNumber;
    for (std::uint32_t x = first; x < last; ++x) {
      if (parent[x] == kNotCore) continue;
      if (parent[x] != root) {
        if (root != kNotCore) store_smaller(number[root], smallest);
        root = parent[x];
        smallest = kNoNumber;
      }
      smallest = std::min(smallest, source.smallest_id(x, minpts));
    }
    if (root != kNotCore) store_smaller(number[root], smallest);
  });
  RankedIds ids(source.order().size());
  parallel_nodes(parent.size(), cancel, [&](std::uint32_t first, std::uint32_t last) {
    for (std::uint32_t x = first; x < last; ++x) {
      if (parent[x] == x) ids.insert(number[x]);
    }
  });
  const std::uint32_t clusters = ids.finish();
  parallel_nodes(parent.size(), cancel, [&](std::uint32_t first, std::uint32_t last) {
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

LabelSummary label_clusters(const ClusterSource& source, std::uint32_t minpts, std::span<std::uint32_t> parent,
                            std::span<std::uint32_t> number, std::span<std::int32_t> labels,
                            const CancelToken& cancel) {
  const std::uint32_t clusters = number_clusters(source, minpts, parent, number, cancel);
  if (clusters > static_cast<std::uint32_t>(std::numeric_limits<std::int32_t>::max())) {
    throw ResourceError(std::to_string(clusters) + " clusters do not fit int32 labels: raise eps or minpts");
  }
  const auto order = source.order();
  std::vector<std::uint32_t> sizes(clusters);
  std::atomic<std::uint64_t> core{0};
  std::atomic<std::uint64_t> border{0};
  tbb::parallel_for(std::size_t{0}, source.blocks().size(), [&](std::size_t b) {
    if (cancel.cancelled()) return;
    const ClusterBlock& block = source.blocks()[b];
    Buffer<std::uint32_t> clusters_of(block.rows.size());
    const std::uint32_t block_core =
        source.find_clusters(block, minpts, parent.data(), number.data(), clusters_of.data());
    SizeCounter counter(sizes);
    std::uint32_t clustered = 0;
    for (std::uint32_t row = block.rows.begin; row < block.rows.end; ++row) {
      const std::uint32_t cluster = clusters_of[row - block.rows.begin];
      labels[order[row]] = cluster == kNoCluster ? kNoise : static_cast<std::int32_t>(cluster);
      if (cluster == kNoCluster) continue;
      counter.add(cluster);
      ++clustered;
    }
    core.fetch_add(block_core, std::memory_order_relaxed);
    border.fetch_add(clustered - block_core, std::memory_order_relaxed);
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
