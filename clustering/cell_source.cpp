#include <epsflow/clustering/cell_source.hpp>

#include <tbb/parallel_for.h>

#include <algorithm>
#include <limits>
#include <optional>

#include <epsflow/clustering/box_order.hpp>
#include <epsflow/clustering/cell_loops.hpp>

namespace epsflow::clustering {
namespace {

/// Few enough that threads share the work evenly where cells are full, many enough that finding the first cell's
/// neighbours by binary search does not show.
constexpr std::uint32_t kBlockRows = 4096;
/// With fewer, points have as few candidates as it takes to tell boxes of them apart.
constexpr std::uint32_t kFewestBoxedMinpts = 64;

std::vector<ClusterBlock> cut(const index::Grid& grid) {
  std::vector<ClusterBlock> blocks;
  const auto starts = grid.cell_starts();
  const auto cells = static_cast<std::uint32_t>(grid.cells());
  for (std::uint32_t first = 0; first < cells;) {
    std::uint32_t last = first + 1;
    while (last < cells && starts[last + 1] - starts[first] <= kBlockRows) ++last;
    blocks.push_back({{first, last}, {starts[first], starts[last]}});
    first = last;
  }
  return blocks;
}

}  // namespace

CellSource::CellSource(const index::Grid& grid, std::span<const std::uint32_t> minpts, const CancelToken& cancel)
    : grid_(grid), search_(grid), blocks_(cut(grid)), counts_(grid.size()), gained_(grid.cells()) {
  std::vector<std::uint32_t> ascending(minpts.rbegin(), minpts.rend());
  ascending.push_back(std::numeric_limits<std::uint32_t>::max());
  std::optional<BoxOrder> boxes;
  if (minpts.front() >= kFewestBoxedMinpts && grid.size() > 0) boxes.emplace(search_.input(), grid.cell_starts());
  const CountLevels levels{ascending, boxes ? &*boxes : nullptr};
  tbb::parallel_for(std::size_t{0}, blocks_.size(), [&](std::size_t b) {
    if (cancel.cancelled()) return;
    count_cells({grid_, search_.input()}, blocks_[b].nodes, levels, counts_.data());
  });
  cancel.check();
}

void CellSource::mark_core(const ClusterBlock& block, const CoreLevel& level, std::uint32_t* parent) {
  const auto starts = grid_.cell_starts();
  for (std::uint32_t cell = block.nodes.begin; cell < block.nodes.end; ++cell) {
    std::uint8_t gained = 0;
    for (std::uint32_t p = starts[cell]; p < starts[cell + 1] && gained == 0; ++p) gained = level.gained(counts_[p]);
    gained_[cell] = gained;
    if (gained != 0 && parent[cell] == kNotCore) parent[cell] = cell;
  }
}

void CellSource::unite(const ClusterBlock& block, const CoreLevel& level, unsigned pass, std::uint32_t* parent) {
  const std::uint32_t reach = pass == 0 ? 1 : grid_.keys().window;
  unite_cells({grid_, search_.input()}, block.nodes, level.minpts, reach, counts_.data(), gained_.data(), parent);
}

std::uint32_t CellSource::smallest_id(std::uint32_t node, std::uint32_t minpts) const {
  // Points of a cell are in input order.
  std::uint32_t p = grid_.cell_starts()[node];
  while (counts_[p] < minpts) ++p;
  return grid_.order()[p];
}

void CellSource::find_clusters(const ClusterBlock& block, const NumberedLevels& levels, std::uint32_t* clusters,
                               std::uint32_t* core) const {
  find_cell_clusters({grid_, search_.input()}, block.nodes, levels, counts_.data(), clusters);
  for (const std::uint32_t minpts : levels.minpts) {
    *core++ =
        static_cast<std::uint32_t>(std::count_if(counts_.begin() + block.rows.begin, counts_.begin() + block.rows.end,
                                                 [=](std::uint32_t count) { return count >= minpts; }));
  }
}

}  // namespace epsflow::clustering
