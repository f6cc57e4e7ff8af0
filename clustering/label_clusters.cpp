#include <epsflow/clustering/label_clusters.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <limits>
#include <string>
#include <vector>

#include <epsflow/clustering/size_adder.hpp>
#include <epsflow/clustering/union_find.hpp>
#include <epsflow/core/buffer.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/parallel.hpp>

namespace epsflow::clustering {
namespace {

constexpr std::uint32_t kNoNumber = kNoCluster;

template <class F>
void parallel_nodes(std::size_t n, const CancelToken& cancel, F&& f) {
  parallel_ranges(n, 1 << 15, [&](std::size_t begin, std::size_t end) {
    if (!cancel.cancelled()) f(static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end));
  });
  cancel.check();
}

void store_smaller(std::uint32_t& stored, std::uint32_t value) {
  const std::atomic_ref<std::uint32_t> ref(stored);
  std::uint32_t old = ref.load(std::memory_order_relaxed);
  while (value < old && !ref.compare_exchange_weak(old, value, std::memory_order_relaxed)) {
  }
}

/// Lowers smallest[set_of[x]] to the smallest id of a core point of its nodes. set_of: kNotCore if not core.
void offer_smallest_ids(const ClusterSource& source, std::span<const std::uint32_t> set_of,
                        std::span<std::uint32_t> smallest, const CancelToken& cancel) {
  // Neighbouring nodes are mostly in one cluster: one atomic operation per stretch, not per node.
  parallel_nodes(set_of.size(), cancel, [&](std::uint32_t first, std::uint32_t last) {
    std::uint32_t set = kNotCore;
    std::uint32_t id = kNoNumber;
    for (std::uint32_t x = first; x < last; ++x) {
      if (set_of[x] == kNotCore) continue;
      if (set_of[x] != set) {
        if (set != kNotCore) store_smaller(smallest[set], id);
        set = set_of[x];
        id = kNoNumber;
      }
      id = std::min(id, source.smallest_id(x));
    }
    if (set != kNotCore) store_smaller(smallest[set], id);
  });
}

/// A set of ids that returns the rank of an id: the number of smaller ids in it.
class RankedIds {
 public:
  explicit RankedIds(std::size_t n) : words_(n / 64 + 1), ranks_(n / 64 + 1) {}

  /// Thread-safe.
  void insert(std::uint32_t id) noexcept {
    std::atomic_ref<std::uint64_t>(words_[id / 64]).fetch_or(std::uint64_t{1} << (id % 64), std::memory_order_relaxed);
  }
  /// Must be called between the last insert and the first rank. Returns the number of ids.
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

/// Converts clusters by position to labels by input id, and counts clusters and sizes.
class Labeller {
 public:
  Labeller(const ClusterSource& source, const NumberedLevels& levels, std::span<LevelLabels> labels)
      : source_(source), levels_(levels), labels_(labels), core_(levels.size()), clustered_(levels.size()) {
    for (std::size_t l = 0; l < levels.size(); ++l) labels[l].sizes.resize(labels[l].clusters);
    // Writes by input id are effectively random. Several levels side by side share one such write.
    written_ =
        std::any_of(labels.begin(), labels.end(), [](const LevelLabels& level) { return !level.labels.empty(); });
    if (written_ && levels.size() > 1) by_id_ = Buffer<std::int32_t>(source.labelled() * levels.size());
  }

  void label(const ClusterBlock& block) {
    const std::size_t levels = levels_.size();
    Buffer<std::uint32_t> clusters(block.rows.size() * levels);
    std::vector<std::uint32_t> core(levels);
    source_.find_clusters(block, levels_, clusters.data(), core.data());
    std::int32_t* to = levels > 1 ? by_id_.data() : labels_[0].labels.data();
    const std::uint32_t* order = source_.order().data() + block.rows.begin;
    const std::size_t labelled = source_.labelled();
    for (std::size_t i = 0; i < block.rows.size(); ++i) {
      for (std::size_t l = 0; l < levels; ++l) {
        std::uint32_t& cluster = clusters[i * levels + l];
        if (order[i] < labelled) {
          if (written_) to[order[i] * levels + l] = static_cast<std::int32_t>(cluster);
        } else {
          cluster = kNoCluster;  // a ghost does not count
        }
      }
    }
    for (std::size_t l = 0; l < levels; ++l) {
      SizeAdder sizes(labels_[l].sizes.data());
      std::uint32_t clustered = 0;
      for (std::size_t i = 0; i < block.rows.size(); ++i) {
        if (clusters[i * levels + l] == kNoCluster) continue;
        sizes.add(clusters[i * levels + l]);
        ++clustered;
      }
      add(core_[l], core[l]);
      add(clustered_[l], clustered);
    }
  }

  /// Must be called after all blocks are labelled, for ranges of ids.
  void part(std::size_t first, std::size_t last) {
    const std::size_t levels = levels_.size();
    for (std::size_t l = 0; written_ && levels > 1 && l < levels; ++l) {
      for (std::size_t id = first; id < last; ++id) labels_[l].labels[id] = by_id_[id * levels + l];
    }
  }

  void sum_up() {
    for (std::size_t l = 0; l < levels_.size(); ++l) {
      LabelSummary& summary = labels_[l].summary;
      summary.clusters = labels_[l].clusters;
      summary.core = core_[l];
      summary.border = clustered_[l] - core_[l];
      summary.noise = source_.labelled() - clustered_[l];
      const std::vector<std::uint32_t>& sizes = labels_[l].sizes;
      summary.largest = sizes.empty() ? 0 : *std::max_element(sizes.begin(), sizes.end());
    }
  }

 private:
  static void add(std::uint64_t& sum, std::uint64_t count) {
    std::atomic_ref<std::uint64_t>(sum).fetch_add(count, std::memory_order_relaxed);
  }

  const ClusterSource& source_;
  const NumberedLevels& levels_;
  std::span<LevelLabels> labels_;
  std::vector<std::uint64_t> core_;
  std::vector<std::uint64_t> clustered_;
  bool written_ = false;  ///< false if labels are only counted
  Buffer<std::int32_t> by_id_;
};

}  // namespace

std::uint32_t number_clusters(const ClusterSource& source, std::span<std::uint32_t> parent,
                              std::span<std::uint32_t> cluster_of, const CancelToken& cancel) {
  const UnionFind sets(parent);
  parallel_nodes(parent.size(), cancel, [&](std::uint32_t first, std::uint32_t last) {
    for (std::uint32_t x = first; x < last; ++x) {
      cluster_of[x] = kNoNumber;
      if (sets.parent(x) != kNotCore) sets.flatten(x);
    }
  });
  offer_smallest_ids(source, parent, cluster_of, cancel);
  RankedIds ids(source.order().size());
  parallel_nodes(parent.size(), cancel, [&](std::uint32_t first, std::uint32_t last) {
    for (std::uint32_t x = first; x < last; ++x) {
      if (parent[x] == x) ids.insert(cluster_of[x]);
    }
  });
  const std::uint32_t clusters = ids.finish();
  if (clusters > static_cast<std::uint32_t>(std::numeric_limits<std::int32_t>::max())) {
    throw ResourceError(std::to_string(clusters) + " clusters do not fit int32 labels: raise eps or minpts");
  }
  parallel_nodes(parent.size(), cancel, [&](std::uint32_t first, std::uint32_t last) {
    for (std::uint32_t x = first; x < last; ++x) {
      if (parent[x] == x) cluster_of[x] = ids.rank(cluster_of[x]);
    }
  });
  parallel_nodes(parent.size(), cancel, [&](std::uint32_t first, std::uint32_t last) {
    for (std::uint32_t x = first; x < last; ++x) {
      if (parent[x] != kNotCore && parent[x] != x) cluster_of[x] = cluster_of[parent[x]];
    }
  });
  return clusters;
}

std::vector<std::uint32_t> find_first_cores(const ClusterSource& source, std::span<const std::uint32_t> cluster_of,
                                            std::uint32_t clusters, const CancelToken& cancel) {
  static_assert(kNoCluster == kNotCore, "a node of no cluster is of no set");
  std::vector<std::uint32_t> first(clusters, kNoNumber);
  offer_smallest_ids(source, cluster_of, first, cancel);
  return first;
}

void label_clusters(const ClusterSource& source, const NumberedLevels& levels, std::span<LevelLabels> labels,
                    const CancelToken& cancel) {
  static_assert(static_cast<std::int32_t>(kNoCluster) == kNoise, "clusters are written as labels as they are");
  Labeller labeller(source, levels, labels);
  parallel_for(source.blocks().size(), [&](std::size_t b) {
    if (!cancel.cancelled()) labeller.label(source.blocks()[b]);
  });
  cancel.check();
  parallel_nodes(source.labelled(), cancel,
                 [&](std::uint32_t first, std::uint32_t last) { labeller.part(first, last); });
  labeller.sum_up();
}

LabelSummary summarise(const Labels& labels, std::span<const std::uint8_t> core, std::uint64_t clusters) {
  LabelSummary summary{.clusters = clusters};
  std::vector<std::uint64_t> sizes(clusters);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    summary.core += core[i];
    if (labels[i] == kNoise) {
      ++summary.noise;
      continue;
    }
    summary.border += core[i] == 0 ? 1 : 0;
    summary.largest = std::max(summary.largest, ++sizes[static_cast<std::size_t>(labels[i])]);
  }
  return summary;
}

}  // namespace epsflow::clustering
