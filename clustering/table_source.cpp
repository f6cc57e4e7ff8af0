#include <epsflow/clustering/table_source.hpp>

#include <algorithm>

#include <epsflow/clustering/row_loops.hpp>

namespace epsflow::clustering {

TableSource::TableSource(const NeighborTable& table, std::span<const std::uint32_t> order)
    : table_(table), order_(order) {
  for (const Range& rows : table.blocks()) blocks_.push_back({rows, rows});
}

void TableSource::mark_core(const ClusterBlock& block, const CoreLevel& level, std::uint32_t* parent) {
  for (std::uint32_t x = block.rows.begin; x < block.rows.end; ++x) {
    if (level.gained(table_.counts()[x])) parent[x] = x;
  }
}

void TableSource::unite(const ClusterBlock& block, const CoreLevel& level, unsigned, std::uint32_t* parent) {
  unite_rows(table_, block.rows, {.minpts = level.minpts, .below = level.below, .lower_half = level.first()}, parent);
}

void TableSource::find_clusters(const ClusterBlock& block, const NumberedLevels& levels, std::uint32_t* clusters,
                                std::uint32_t* core) const {
  clustering::find_clusters(table_, block.rows, levels.clusters, clusters);
  *core = block.rows.size() - static_cast<std::uint32_t>(std::count(levels.clusters + block.rows.begin,
                                                                    levels.clusters + block.rows.end, kNoCluster));
}

}  // namespace epsflow::clustering
