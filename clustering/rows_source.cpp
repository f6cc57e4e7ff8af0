#include <epsflow/clustering/rows_source.hpp>

#include <algorithm>
#include <numeric>
#include <optional>

#include <epsflow/clustering/union_find.hpp>
#include <epsflow/core/parallel.hpp>

namespace epsflow::clustering {
namespace {

/// Approximate number of entries of a block.
constexpr std::uint64_t kBlockEntries = 1 << 16;
constexpr std::uint32_t kMostBlockRows = 1 << 14;

std::vector<ClusterBlock> even_blocks(const NeighborsView& rows) {
  std::vector<ClusterBlock> blocks;
  const auto n = static_cast<std::uint32_t>(rows.size());
  for (std::uint32_t first = 0; first < n;) {
    std::uint32_t end = first + 1;
    while (end < n && end - first < kMostBlockRows && rows.offsets[end] - rows.offsets[first] < kBlockEntries) ++end;
    blocks.push_back({{first, end}, {first, end}});
    first = end;
  }
  return blocks;
}

}  // namespace

template <class F>
void RowsSource::for_each(std::uint32_t point, F&& f) const {
  const std::uint64_t end = rows_.offsets[point + std::size_t{1}];
  for (std::uint64_t at = rows_.offsets[point]; at < end; ++at) {
    if (rows_.distances.empty() || rows_.distances[at] <= eps_) f(rows_.ids[at]);
  }
}

RowsSource::RowsSource(const NeighborsView& rows, double eps, std::span<const std::uint32_t> minpts,
                       const WholeWeights* weights, const CancelToken& cancel)
    : rows_(rows), eps_(eps), order_(rows.size()), counts_(rows.size()), blocks_(even_blocks(rows)) {
  std::optional<const WeightLevels> levels;
  if (weights != nullptr) levels.emplace(*weights, minpts);
  std::iota(order_.begin(), order_.end(), std::uint32_t{0});
  parallel_for(blocks_.size(), [&](std::size_t b) {
    if (cancel.cancelled()) return;
    for (std::uint32_t x = blocks_[b].rows.begin; x < blocks_[b].rows.end; ++x) {
      if (levels) {
        WeightSum sum = 0;
        for_each(x, [&](std::uint32_t y) { sum += (*weights)[y]; });
        counts_[x] = levels->count(sum);
      } else {
        counts_[x] = 0;
        for_each(x, [&](std::uint32_t) { ++counts_[x]; });
      }
    }
  });
  cancel.check();
}

void RowsSource::mark_core(const ClusterBlock& block, const CoreLevel& level, std::uint32_t* parent) {
  for (std::uint32_t x = block.rows.begin; x < block.rows.end; ++x) {
    if (level.gained(counts_[x])) parent[x] = x;
  }
}

void RowsSource::unite(const ClusterBlock& block, const CoreLevel& level, unsigned, std::uint32_t* parent) {
  const UnionFind sets({parent, rows_.size()});
  for (std::uint32_t x = block.rows.begin; x < block.rows.end; ++x) {
    if (!level.gained(counts_[x])) continue;
    std::uint32_t root = sets.find(x);
    for_each(x, [&](std::uint32_t y) {
      // Rows are symmetric: when all core points are read, the row of the other point has the pair too.
      if (level.first() && y >= x) return;
      const std::uint32_t p = sets.parent(y);
      if (p != root && p != kNotCore) root = sets.unite(root, y);
    });
  }
}

void RowsSource::find_clusters(const ClusterBlock& block, const NumberedLevels& levels, std::uint32_t* clusters,
                               std::uint32_t* core) const {
  *core = 0;
  for (std::uint32_t x = block.rows.begin; x < block.rows.end; ++x) {
    std::uint32_t lowest = levels.clusters[x];
    if (lowest != kNoCluster) {
      ++*core;
    } else {
      for_each(x, [&](std::uint32_t y) { lowest = std::min(lowest, levels.clusters[y]); });
    }
    clusters[x - block.rows.begin] = lowest;
  }
}

}  // namespace epsflow::clustering
