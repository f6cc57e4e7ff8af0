#include <epsflow/clustering/cell_source.hpp>

#include <tbb/task_arena.h>

#include <algorithm>
#include <limits>

#include <epsflow/clustering/union_find.hpp>
#include <epsflow/core/parallel.hpp>

namespace epsflow::clustering {
namespace {

/// Small enough to share the work evenly if cells are full, large enough to hide the first binary search.
constexpr std::uint32_t kBlockRows = 4096;
/// With a smaller minpts, points have too few candidates for bounds to pay.
constexpr std::uint32_t kFewestBoundedMinpts = 256;

/// Windows are cached from this number of levels on, if they take no more memory than this.
constexpr std::size_t kFewestCachedLevels = 4;
constexpr std::uint64_t kMostWindowBytes = 32ULL << 20;

std::uint32_t reach_of(const index::Grid& grid, unsigned pass) { return pass == 0 ? 1 : grid.keys().window; }

/// Returns 0 if windows are not cached.
std::uint64_t window_bytes(const index::Grid& grid, std::size_t levels) {
  if (levels < kFewestCachedLevels || grid.cells() == 0) return 0;
  const std::uint64_t bytes =
      CachedWindows::bytes(grid, reach_of(grid, 0)) + CachedWindows::bytes(grid, reach_of(grid, 1));
  return bytes <= kMostWindowBytes ? bytes : 0;
}

bool bounded(std::span<const std::uint32_t> minpts) { return minpts.front() >= kFewestBoundedMinpts; }

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

CellSource::CellSource(const index::Grid& grid, std::span<const std::uint32_t> minpts, const CancelToken& cancel,
                       const Ghosts& ghosts, const WholeWeights* weights)
    : grid_(grid),
      search_(grid),
      weighted_(weights != nullptr),
      blocks_(cut(grid)),
      ghosts_(ghosts),
      cancel_(cancel),
      most_(minpts.front()),
      counts_(grid.size()),
      gained_cells_(blocks_.size()),
      gained_(grid.cells()),
      resolved_(grid.cells()),
      smallest_(grid.cells()) {
  std::fill(gained_.begin(), gained_.end(), std::uint8_t{0});
  if (window_bytes(grid, minpts.size()) > 0) {
    for (unsigned pass = 0; pass < passes(); ++pass) windows_[pass] = CachedWindows(grid, reach_of(grid, pass));
  }
  if (bounded(minpts) && grid.size() > 0) bounds_.emplace(grid, search_.input(), blocks_, cancel);
  const auto for_blocks = [&](const auto& count) {
    parallel_for(blocks_.size(), [&](std::size_t b) {
      if (!cancel.cancelled()) count(blocks_[b].nodes);
    });
    cancel.check();
  };
  if (weights != nullptr) {
    Weighing weighing(*weights, minpts, order(), ghosts);
    // If many neighbours are needed to decide, precomputed sums over ranges of neighbours pay.
    constexpr int kManyNeighbors = 64;
    const WeightSum mean = weights->total() / std::max<WeightSum>(1, weights->size());
    if (!weights->negative() && weighing.levels().enough() / kManyNeighbors >= mean) weighing.sum_up();
    for_blocks([&](Range cells) { weigh_cells(input(), cells, weighing, counts_.data()); });
  } else {
    std::vector<std::uint32_t> ascending(minpts.rbegin(), minpts.rend());
    ascending.push_back(std::numeric_limits<std::uint32_t>::max());
    for_blocks([&](Range cells) { count_cells(input(), cells, ascending, counts_.data()); });
  }
  find_ghosts();
  find_largest_counts();
}

void CellSource::set_counts(std::span<const PointCount> counts) {
  for (const auto& [position, count] : counts) counts_[position] = count;
  find_largest_counts();
}

void CellSource::find_largest_counts() {
  if (!bounds_) return;
  constexpr std::size_t kPiece = std::size_t{1} << BoundsOrder::shift(0);
  largest_counts_ = Buffer<std::uint32_t>((counts_.size() + kPiece - 1) / kPiece);
  parallel_ranges(largest_counts_.size(), 1024, [&](std::size_t begin, std::size_t end) {
    for (std::size_t b = begin; b < end; ++b) {
      largest_counts_[b] =
          *std::max_element(counts_.begin() + b * kPiece, counts_.begin() + std::min(counts_.size(), (b + 1) * kPiece));
    }
  });
}

std::uint64_t CellSource::bytes(const index::Grid& grid, std::span<const std::uint32_t> minpts, std::uint64_t ghosts,
                                bool weighted) noexcept {
  constexpr std::uint64_t kPerPoint = 4;
  constexpr std::uint64_t kPerCell = 10;
  constexpr std::uint64_t kToFindGhosts = 8;
  std::uint64_t each = grid.size() * kPerPoint + grid.cells() * kPerCell + window_bytes(grid, minpts.size());
  if (ghosts > 0) each += grid.size() * kToFindGhosts + ghosts * sizeof(GhostLink);
  if (weighted) each += Weighing::bytes(grid.size(), true);
  if (!bounded(minpts)) return each;
  return each + grid.size() * (BoundsOrder::bytes_per_point(grid.dims(), grid.precision()) + 1) +
         block_rows(grid) * BoundsOrder::bytes_per_arranged(grid.precision());
}

std::uint64_t CellSource::block_rows(const index::Grid& grid) noexcept {
  const auto starts = grid.cell_starts();
  std::uint32_t largest = kBlockRows;
  for (std::size_t cell = 0; cell < grid.cells(); ++cell) largest = std::max(largest, starts[cell + 1] - starts[cell]);
  const auto threads = static_cast<std::uint64_t>(tbb::this_task_arena::max_concurrency());
  return std::min<std::uint64_t>(grid.size(), threads * largest);
}

void CellSource::find_ghosts() {
  if (ghosts_.count == 0 || ghosts_.origins == nullptr) return;
  const auto ids = order();
  Buffer<std::uint32_t> positions(ids.size()), cells(ids.size());
  parallel_for(blocks_.size(), [&](std::size_t b) {
    for (std::uint32_t cell = blocks_[b].nodes.begin; cell < blocks_[b].nodes.end; ++cell) {
      const Range points = grid_.rows_of(cell);
      for (std::uint32_t p = points.begin; p < points.end; ++p) {
        positions[ids[p]] = p;
        cells[ids[p]] = cell;
      }
    }
  });
  ghost_links_.reserve(ghosts_.count);
  for (std::uint32_t id = ghosts_.labelled; id < ids.size(); ++id) {
    const std::uint32_t origin = ghosts_.origin_of(id);
    ghost_links_.push_back({positions[id], cells[id], cells[origin]});
    // If some weights are negative, a sum of some of a point's neighbours may be larger than the sum of all.
    if (weighted_) counts_[positions[id]] = counts_[positions[origin]];
  }
}

CellInput CellSource::input() const {
  const bool of_part = ghosts_.count > 0 && ghosts_.origins == nullptr;
  if (bounds_) return {grid_, bounds_->input(), &*bounds_};
  return {grid_, search_.input(), nullptr, of_part ? ghosts_.labelled : CellInput::kAll};
}

/// Finds the points that are border at some level, and their levels: one search for all levels.
void CellSource::find_borders() {
  borders_.assign(blocks_.size(), {});
  largest_ = Buffer<std::uint32_t>(grid_.cells());
  const auto for_blocks = [&](const auto& body) {
    parallel_for(blocks_.size(), [&](std::size_t b) {
      if (!cancel_.cancelled()) body(b);
    });
    cancel_.check();
  };
  for_blocks([&](std::size_t b) {
    for (std::uint32_t cell = blocks_[b].nodes.begin; cell < blocks_[b].nodes.end; ++cell) {
      const Range points = grid_.rows_of(cell);
      largest_[cell] = *std::max_element(counts_.begin() + points.begin, counts_.begin() + points.end);
    }
  });
  const CellCounts counts{counts_.data(), largest_counts_.data(), weighted_ ? CellCounts::kUntold : 1};
  for_blocks([&](std::size_t b) {
    std::vector<BorderPoint>& points = borders_[b].points;
    find_border_points(input(), blocks_[b].nodes, most_, counts, largest_.data(), points);
    // A copy of another point gets no label.
    std::erase_if(points, [&](const BorderPoint& point) { return order()[point.position] >= labelled(); });
    std::vector<BorderCell>& cells = borders_[b].cells;
    for (std::uint32_t i = 0; i < points.size(); ++i) {
      const BorderPoint& point = points[i];
      if (cells.empty() || cells.back().cell != point.cell) {
        cells.push_back({point.cell, {i, i}, point.count, point.reach});
      }
      BorderCell& cell = cells.back();
      cell.points.end = i + 1;
      cell.least = std::min(cell.least, point.count);
      cell.most = std::max(cell.most, point.reach);
    }
  });
}

std::uint32_t CellSource::count_borders(std::size_t block, std::uint32_t minpts, std::uint32_t* parent,
                                        const std::uint32_t* numbers, std::uint32_t* sizes) {
  return count_border_points(input(), borders_[block],
                             {minpts, counts_.data(), largest_.data(), parent, numbers, sizes});
}

/// Records that the level makes points of the cell core; id is their smallest id.
void CellSource::gain(std::uint32_t cell, std::uint32_t id, std::uint32_t* parent, std::vector<std::uint32_t>& gained) {
  if (parent[cell] == kNotCore) {
    parent[cell] = cell;
    smallest_[cell] = id;
    resolved_[cell] = 0;
  }
  smallest_[cell] = std::min(id, smallest_[cell]);
  if (resolved_[cell] != 0 || gained_[cell] != 0) return;
  gained_[cell] = 1;
  gained.push_back(cell);
}

/// Clears the block's list of gained cells for the next level and returns it.
std::vector<std::uint32_t>& CellSource::forget_gained(const ClusterBlock& block) {
  std::vector<std::uint32_t>& cells = gained_cells_[static_cast<std::size_t>(&block - blocks_.data())];
  for (const std::uint32_t cell : cells) gained_[cell] = 0;
  cells.clear();
  return cells;
}

void CellSource::mark_core(const ClusterBlock& block, const CoreLevel& level, std::uint32_t* parent) {
  constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  const auto ids = order();
  std::vector<std::uint32_t>& gained = forget_gained(block);
  for (std::uint32_t cell = block.nodes.begin; cell < block.nodes.end; ++cell) {
    const Range points = grid_.rows_of(cell);
    std::uint32_t smallest = kNone;
    // Without weights, a cell of at least `below` points was already fully core.
    const bool may_gain = weighted_ || points.size() < level.below;
    for (std::uint32_t p = points.begin; p < points.end && may_gain; ++p) {
      if (!level.gained(counts_[p])) continue;
      smallest = std::min(smallest, ids[p]);
      if (!bounds_) break;  // points of a cell are in input order
    }
    if (smallest != kNone) gain(cell, smallest, parent, gained);
  }
}

void CellSource::mark_core(const ClusterBlock& block, std::span<const NodePoint> gained, std::uint32_t* parent) {
  const auto ids = order();
  std::vector<std::uint32_t>& cells = forget_gained(block);
  for (const auto& [position, cell] : gained) {
    gain(cell, ids[position], parent, cells);
  }
  // Points come in the order of their counts.
  std::sort(cells.begin(), cells.end());
}

void CellSource::unite(const ClusterBlock& block, const CoreLevel& level, unsigned pass, std::uint32_t* parent) {
  const std::vector<std::uint32_t>& cells = gained_cells_[static_cast<std::size_t>(&block - blocks_.data())];
  if (cells.empty()) return;
  unite_cells(input(), cells, reach_of(grid_, pass), windows_[pass],
              {level, counts_.data(), gained_.data(), resolved_.data(), parent});
}

void CellSource::join_ghosts(const CoreLevel& level, std::uint32_t* parent) {
  const UnionFind sets({parent, nodes()});
  parallel_ranges(ghost_links_.size(), 1024, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const GhostLink& ghost = ghost_links_[i];
      if (counts_[ghost.position] >= level.minpts) (void)sets.unite(sets.find(ghost.cell), ghost.cell_of_origin);
    }
  });
}

void CellSource::find_clusters(const ClusterBlock& block, const NumberedLevels& levels, std::uint32_t* clusters,
                               std::uint32_t* core) const {
  const std::uint32_t alone = weighted_ ? CellCounts::kUntold : 1;
  find_cell_clusters(input(), block.nodes, levels, {counts_.data(), largest_counts_.data(), alone}, clusters);
  const auto ids = order();
  for (const std::uint32_t minpts : levels.minpts) {
    std::uint32_t count = 0;
    for (std::uint32_t p = block.rows.begin; p < block.rows.end; ++p) {
      count += counts_[p] >= minpts && !ghosts_.contains(ids[p]) ? 1 : 0;
    }
    *core++ = count;
  }
}

}  // namespace epsflow::clustering
