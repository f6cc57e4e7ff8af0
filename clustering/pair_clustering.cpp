#include <epsflow/clustering/pair_clustering.hpp>

#include <tbb/enumerable_thread_specific.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include <epsflow/clustering/cell_loops.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/core/labels.hpp>
#include <epsflow/core/parallel.hpp>

namespace epsflow::clustering {
namespace {

using index::SlicePair;

/// The label of points that are not core until a neighbour gives them one.
constexpr std::int32_t kNoneYet = std::numeric_limits<std::int32_t>::max();

}  // namespace

/// Scratch memory of a slice, reused for the next one.
struct PairClustering::Work {
  std::vector<std::uint32_t> counts;  ///< [points] neighbours, the point itself included
  std::vector<std::uint16_t> parent;  ///< [points] a smaller point of the same cluster, or the point itself
  std::vector<std::uint8_t> core;     ///< [points]
  std::vector<std::uint32_t> sizes;   ///< [clusters]

  void count(std::span<const SlicePair> pairs, std::size_t points) {
    counts.assign(points, 1);
    for (const auto [a, b] : pairs) {
      ++counts[a];
      ++counts[b];
    }
    parent.resize(points);
    core.resize(points);
  }

  /// Marks core points and returns their number.
  std::uint64_t mark(std::uint32_t minpts) {
    std::uint64_t all = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) all += core[i] = counts[i] >= minpts ? 1 : 0;
    return all;
  }

  /// Returns the smallest point of the cluster of x.
  std::uint16_t root(std::uint16_t x) noexcept {
    while (parent[x] != x) {
      parent[x] = parent[parent[x]];
      x = parent[x];
    }
    return x;
  }

  void unite(std::span<const SlicePair> pairs) {
    std::iota(parent.begin(), parent.end(), std::uint16_t{0});
    for (const auto [a, b] : pairs) {
      if ((core[a] & core[b]) == 0) continue;
      const std::uint16_t x = root(a), y = root(b);
      parent[std::max(x, y)] = std::min(x, y);
    }
  }

  /// Labels core points from `first` on, by the smallest point of each cluster, and border points by the lowest cluster
  /// near them. Returns the number of clusters.
  std::uint32_t label(std::span<const SlicePair> pairs, std::int32_t first, std::span<std::int32_t> labels) {
    std::int32_t next = first;
    for (std::size_t i = 0; i < labels.size(); ++i) {
      if (core[i] == 0) {
        labels[i] = kNoneYet;
        continue;
      }
      const std::uint16_t smallest = root(static_cast<std::uint16_t>(i));
      labels[i] = smallest == i ? next++ : labels[smallest];
    }
    for (const auto [a, b] : pairs) {
      if (core[a] == core[b]) continue;
      const auto [border, of] = core[a] != 0 ? std::pair(b, a) : std::pair(a, b);
      labels[border] = std::min(labels[border], labels[of]);
    }
    return static_cast<std::uint32_t>(next - first);
  }

  /// Labels the remaining points as noise, and counts the points of each cluster.
  void count_sizes(std::int32_t first, std::uint32_t clusters, std::span<std::int32_t> labels) {
    sizes.assign(clusters, 0);
    for (std::int32_t& label : labels) {
      if (label == kNoneYet) {
        label = kNoise;
      } else {
        ++sizes[static_cast<std::size_t>(label - first)];
      }
    }
  }
};

std::size_t PairClustering::levels_at_once() const { return std::min(levels_at_once_, kLevelsAtOnce); }

United& PairClustering::unite(std::uint32_t minpts) {
  minpts_.push_back(minpts);
  return *this;
}

std::vector<std::uint32_t> PairClustering::first_cores() {
  throw Error("a clustering by lists of pairs makes labels alone");
}

void PairClustering::label_block(const index::PairList::Block& block, std::span<const std::uint32_t> minpts,
                                 std::span<const LabelTarget> targets, Work& work, std::span<BlockCounts> found) const {
  const std::span<const std::uint32_t> starts = list_.starts();
  std::size_t done = 0;
  for (std::uint32_t s = block.first; s < block.last; ++s) {
    const std::size_t end = block.ends[s - block.first];
    const std::span<const SlicePair> pairs = block.pairs.span().subspan(done, end - done);
    done = end;
    const std::size_t size = starts[s + 1] - starts[s];
    work.count(pairs, size);
    for (std::size_t l = 0; l < targets.size(); ++l) {
      const std::span<std::int32_t> labels(targets[l].labels + starts[s], size);
      const std::uint64_t core = work.mark(minpts[l]);
      if (targets[l].core != nullptr) std::copy(work.core.begin(), work.core.end(), targets[l].core + starts[s]);
      if (core == 0) {
        std::fill(labels.begin(), labels.end(), kNoise);
        continue;
      }
      const auto first = static_cast<std::int32_t>(found[l].clusters);
      work.unite(pairs);
      const std::uint32_t clusters = work.label(pairs, first, labels);
      work.count_sizes(first, clusters, labels);
      found[l].clusters += clusters;
      found[l].core += core;
      found[l].border += std::accumulate(work.sizes.begin(), work.sizes.end(), std::uint64_t{0}) - core;
      found[l].largest =
          std::max<std::uint64_t>(found[l].largest, *std::max_element(work.sizes.begin(), work.sizes.end()));
    }
  }
}

std::vector<LevelResult> PairClustering::label(std::span<const LabelTarget> targets) {
  const std::span<const index::PairList::Block> blocks = list_.blocks();
  const std::size_t levels = targets.size();
  std::vector<BlockCounts> found(blocks.size() * levels);
  tbb::enumerable_thread_specific<Work> work;
  // If there are fewer blocks than threads, several threads label a block, each at some of the levels.
  const auto threads = static_cast<std::size_t>(tbb::this_task_arena::max_concurrency());
  const std::size_t shares = std::clamp<std::size_t>(threads / blocks.size(), 1, levels);
  parallel_for(blocks.size() * shares, [&](std::size_t task) {
    if (cancel_.cancelled()) return;
    const std::size_t b = task / shares, share = task % shares;
    const std::size_t first = levels * share / shares, count = levels * (share + 1) / shares - first;
    label_block(blocks[b], std::span(minpts_).subspan(first, count), targets.subspan(first, count), work.local(),
                std::span(found).subspan(b * levels + first, count));
  });
  cancel_.check();
  std::vector<LevelResult> results(levels);
  std::vector<std::uint64_t> before(found.size());  // clusters of the previous blocks
  for (std::size_t l = 0; l < levels; ++l) {
    LabelSummary& summary = results[l].summary;
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      const BlockCounts& of_block = found[b * levels + l];
      before[b * levels + l] = summary.clusters;
      summary.clusters += of_block.clusters;
      summary.core += of_block.core;
      summary.border += of_block.border;
      summary.largest = std::max(summary.largest, of_block.largest);
    }
    summary.noise = list_.size() - summary.core - summary.border;
    if (summary.clusters > static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max())) {
      throw ResourceError(format_count(summary.clusters) + " clusters do not fit int32 labels: raise eps or minpts");
    }
  }
  parallel_for(blocks.size(), [&](std::size_t b) {
    if (b == 0) return;  // no clusters are before it
    const std::uint32_t first = list_.starts()[blocks[b].first], last = list_.starts()[blocks[b].last];
    for (std::size_t l = 0; l < levels; ++l) {
      const auto add = static_cast<std::int32_t>(before[b * levels + l]);
      std::int32_t* const labels = targets[l].labels;
      for (std::uint32_t i = first; i < last; ++i) labels[i] += labels[i] < 0 ? 0 : add;
    }
  });
  minpts_.clear();
  return results;
}

}  // namespace epsflow::clustering
