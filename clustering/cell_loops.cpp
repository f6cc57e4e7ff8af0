#include <epsflow/clustering/cell_loops.hpp>

#include <epsflow/index/instruction_sets.hpp>
// Must come before any header of Highway.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "epsflow/clustering/cell_loops.cpp"  // NOLINT: compiled once per instruction set
#include <hwy/foreach_target.h>
// foreach_target.h must come first
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <epsflow/clustering/cell_loops-inl.hpp>
#include <epsflow/clustering/cells_within.hpp>
#include <epsflow/clustering/union_find.hpp>
#include <epsflow/index/cell_window.hpp>

HWY_BEFORE_NAMESPACE();
namespace epsflow::clustering {
namespace HWY_NAMESPACE {

using index::CellWindow;
using index::WindowRanges;

/// Returns true if a core point of one cell is a neighbour of a core point of the other.
template <class T, std::size_t D>
bool have_core_neighbours(const CellInput& in, Range a, Range b, const std::uint32_t* counts, std::uint32_t minpts) {
  // If cells are within eps, one of the first pairs usually is. After these pairs, bisection continues.
  constexpr std::uint64_t kMostPairs = 16 * 1024;
  if (a.size() > b.size()) std::swap(a, b);
  std::uint64_t tested = 0;
  for (std::uint32_t p = a.begin; p < a.end; ++p) {
    if (counts[p] < minpts) continue;
    if (tested > kMostPairs) return any_core_within(in.search, a, b, counts, minpts);
    tested += b.size();
    const RowTest<T, D> test(in.search, p);
    if (largest_within(test, b, counts, minpts) >= minpts) return true;
  }
  return false;
}

template <class T, std::size_t D>
void unite(const CellInput& in, std::span<const std::uint32_t> cells, std::uint32_t reach, CachedWindows& windows,
           const CellUnions& unions) {
  const auto [level, counts, gained, resolved, parent] = unions;
  const auto starts = in.grid.cell_starts();
  const UnionFind sets({parent, in.grid.cells()});
  // If the level gains both cells, the later one tests the pair; otherwise the gained one does.
  const bool only_earlier = level.first();
  const WindowRanges kind = only_earlier && !windows.keeps() ? WindowRanges::rows_up_to : WindowRanges::rows;
  std::optional<CellWindow> window;  // starts at the first cell without a cached window
  for (const std::uint32_t a : cells) {
    std::span<const Range> around = windows.of(a);
    if (around.empty()) {
      if (!window) window.emplace(in.grid, a, reach, kind);
      around = window->around({a, a + 1});
      if (windows.keeps()) windows.keep(a, around);
    }
    std::uint32_t root = sets.find(a);
    bool united = !only_earlier;
    for (const Range& row : around) {
      for (std::uint32_t c = row.begin; c < (only_earlier ? HWY_MIN(row.end, a) : row.end); ++c) {
        const std::uint32_t above = sets.parent(c);
        if (above == kNotCore || above == root) continue;
        if (c > a && gained[c] != 0) {
          united = false;
          continue;
        }
        root = sets.find(a);
        if (sets.find(c) == root) continue;
        const Range points{starts[a], starts[a + 1]};
        if (have_core_neighbours<T, D>(in, points, {starts[c], starts[c + 1]}, counts, level.minpts)) {
          root = sets.unite(a, c);
        } else {
          united = false;
          // More core points of the other cell may be near enough.
          std::atomic_ref<std::uint8_t>(resolved[c]).store(0, std::memory_order_relaxed);
        }
      }
    }
    std::atomic_ref<std::uint8_t>(resolved[a]).store(united ? 1 : 0, std::memory_order_relaxed);
  }
}

/// A core cell near points that are not core.
struct CoreCell {
  Range points;
  const std::uint32_t* clusters;  // clusters at each level
};

/// Collects the cells around a cell in a lower cluster at some level, which may lower the clusters of border points.
void collect_lower(const CellInput& in, std::span<const Range> around, const NumberedLevels& levels, std::uint32_t cell,
                   std::vector<CoreCell>& lower) {
  const auto starts = in.grid.cell_starts();
  const std::size_t count = levels.size();
  // The entries after the levels belong to other cells: a limit of 0 excludes them.
  std::array<std::uint32_t, kLevelsAtOnce> limits{};
  std::copy_n(levels.clusters + cell * count, count, limits.begin());
  lower.clear();
  for (const Range& row : around) {
    for (std::uint32_t c = row.begin; c < row.end; ++c) {
      const std::uint32_t* of_cell = levels.clusters + c * count;
      bool below = false;
      for (std::size_t l = 0; l < kLevelsAtOnce; ++l) below |= of_cell[l] < limits[l];
      if (below) lower.push_back({{starts[c], starts[c + 1]}, of_cell});
    }
  }
}

/// largest_within() for candidates with bounds. Raises `largest` if a count exceeds it.
template <class T, std::size_t D>
HWY_NOINLINE void largest_in_bounds(  // NOLINT(readability-function-size): a kernel
    const BoundsTest<D>& bounds, const RowTest<T, D>& test, Range range, unsigned level, const CellCounts& counts,
    std::uint32_t enough, std::uint32_t& largest) {
  bounds.for_each_near(range, level, [&](Range part, bool) HWY_ATTR {
    if (largest >= enough) return;
    if (level > 0) return largest_in_bounds(bounds, test, part, level - 1, counts, enough, largest);
    if (counts.of_bounds[part.begin >> BoundsOrder::shift(0)] <= largest) return;
    largest = HWY_MAX(largest, largest_within(test, part, counts.of_points, enough));
  });
}

/// Lowers the clusters of a point, at levels at which it is not core, to the clusters of cells with a core
/// neighbour.
template <class T, std::size_t D>
HWY_INLINE void lower_clusters(const CellInput& in, std::uint32_t p, std::span<const CoreCell> cells,
                               const NumberedLevels& levels, const CellCounts& counts, std::uint32_t* clusters) {
  // From this number of candidates in a cell, bounds save more tests than they cost.
  constexpr std::uint32_t kFewestBoundedPoints = 64;
  const std::span<const std::uint32_t> minpts = levels.minpts;
  std::size_t core = 1;  // the first level at which the point is core, as it is at all later ones
  while (core < levels.size() && counts.of_points[p] < minpts[core]) ++core;
  const RowTest<T, D> test(in.search, p);
  for (const CoreCell& cell : cells) {
    std::size_t level = 0;
    while (level < core && cell.clusters[level] >= clusters[level]) ++level;
    if (level == core) continue;
    // A core point of that level is one of all later levels, too.
    std::uint32_t largest = minpts[core - 1] - 1;
    if (in.bounds != nullptr && cell.points.size() >= kFewestBoundedPoints) {
      const BoundsTest<D> bounds(*in.bounds, {p, p + 1});
      largest_in_bounds(bounds, test, cell.points, bounds.level_of(cell.points), counts, minpts[level], largest);
    } else {
      largest = largest_within(test, cell.points, counts.of_points, minpts[level]);
    }
    for (; level < core; ++level) {
      if (largest >= minpts[level]) clusters[level] = HWY_MIN(clusters[level], cell.clusters[level]);
    }
  }
}

template <class T, std::size_t D>
void find(const CellInput& in, Range cells, const NumberedLevels& levels, const CellCounts& counts,
          std::uint32_t* clusters) {
  const auto starts = in.grid.cell_starts();
  const std::size_t count = levels.size();
  CellWindow window(in.grid, cells.begin, in.grid.keys().window);
  std::vector<CoreCell> lower;
  for (std::uint32_t a = cells.begin; a < cells.end; ++a) {
    const std::uint32_t* own = levels.clusters + a * count;
    bool collected = false;
    for (std::uint32_t p = starts[a]; p < starts[a + 1]; ++p, clusters += count) {
      for (std::size_t l = 0; l < count; ++l) clusters[l] = own[l];
      if (counts.of_points[p] >= levels.minpts.front() || counts.of_points[p] == counts.alone) continue;
      if (!collected) collect_lower(in, window.around({a, a + 1}), levels, a, lower);
      collected = true;
      if (!lower.empty()) lower_clusters<T, D>(in, p, lower, levels, counts, clusters);
    }
  }
}

void unite_any(const CellInput& in, std::span<const std::uint32_t> cells, std::uint32_t reach, CachedWindows& windows,
               const CellUnions& unions) {
  with_dense_box_types(in.search,
                       [&]<class T, std::size_t D>() HWY_ATTR { unite<T, D>(in, cells, reach, windows, unions); });
}

void find_any(const CellInput& in, Range cells, const NumberedLevels& levels, const CellCounts& counts,
              std::uint32_t* clusters) {
  with_dense_box_types(in.search,
                       [&]<class T, std::size_t D>() HWY_ATTR { find<T, D>(in, cells, levels, counts, clusters); });
}

}  // namespace HWY_NAMESPACE
}  // namespace epsflow::clustering
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace epsflow::clustering {

HWY_EXPORT(unite_any);
HWY_EXPORT(find_any);

void unite_cells(const CellInput& in, std::span<const std::uint32_t> cells, std::uint32_t reach, CachedWindows& windows,
                 const CellUnions& unions) {
  HWY_DYNAMIC_DISPATCH(unite_any)(in, cells, reach, windows, unions);
}

void find_cell_clusters(const CellInput& in, Range cells, const NumberedLevels& levels, const CellCounts& counts,
                        std::uint32_t* clusters) {
  HWY_DYNAMIC_DISPATCH(find_any)(in, cells, levels, counts, clusters);
}

}  // namespace epsflow::clustering
#endif
