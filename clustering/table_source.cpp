#include <epsflow/clustering/table_source.hpp>

#include <algorithm>

#include <epsflow/clustering/row_loops.hpp>
#include <epsflow/core/parallel.hpp>

namespace epsflow::clustering {

TableSource::TableSource(const NeighborTable& table, std::span<const std::uint32_t> order)
    : table_(table), order_(order), counts_(table.counts()) {
  for (const Range& rows : table.blocks()) blocks_.push_back({rows, rows});
}

TableSource::TableSource(const NeighborTable& table, std::span<const std::uint32_t> order,
                         std::span<const std::uint32_t> minpts, const WholeWeights* weights, const CancelToken& cancel)
    : TableSource(table, order) {
  if (weights == nullptr) return;
  const Weighing weighing(*weights, minpts, order, ghosts());
  weighed_ = Buffer<std::uint32_t>(table.size());
  parallel_for(blocks_.size(), [&](std::size_t b) {
    if (cancel.cancelled()) return;
    table_.for_each_row(blocks_[b].rows, [&](std::uint32_t row, const RowView& view) {
      WeightSum sum = 0;
      view.for_each([&](std::uint32_t neighbor) { sum += weighing.units()[neighbor]; });
      weighed_[row] = weighing.count(sum);
    });
  });
  cancel.check();
  counts_ = weighed_.span();
}

void TableSource::mark_core(const ClusterBlock& block, const CoreLevel& level, std::uint32_t* parent) {
  for (std::uint32_t x = block.rows.begin; x < block.rows.end; ++x) {
    if (level.gained(counts_[x])) parent[x] = x;
  }
}

void TableSource::unite(const ClusterBlock& block, const CoreLevel& level, unsigned, std::uint32_t* parent) {
  unite_rows(table_, block.rows, level, counts_.data(), parent);
}

void TableSource::find_clusters(const ClusterBlock& block, const NumberedLevels& levels, std::uint32_t* clusters,
                                std::uint32_t* core) const {
  clustering::find_clusters(table_, block.rows, levels.clusters, clusters);
  *core = block.rows.size() - static_cast<std::uint32_t>(std::count(levels.clusters + block.rows.begin,
                                                                    levels.clusters + block.rows.end, kNoCluster));
}

}  // namespace epsflow::clustering
