#include <epsflow/clustering/cell_loops.hpp>

#include <epsflow/index/instruction_sets.hpp>
// before any header of Highway
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

/// Whether a core point of one cell is a neighbour of a core point of the other.
template <class T, std::size_t D>
bool have_core_neighbours(const CellInput& in, Range a, Range b, const std::uint32_t* counts, std::uint32_t minpts) {
  // Where cells are within eps of each other, one of the first pairs mostly is. Beyond so many, pairs are looked for by bisection.
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
void unite(const CellInput& in, std::span<const std::uint32_t> cells, std::uint32_t reach, KeptWindows& windows,
           const CellUnions& unions) {
  const auto [level, counts, gained, settled, parent] = unions;
  const auto starts = in.grid.cell_starts();
  const UnionFind sets({parent, in.grid.cells()});
  // Of two cells that the level gains, the later sees the pair; of others, the one that is gained.
  const bool only_earlier = level.first();
  const WindowRanges kind = only_earlier && !windows.keeps() ? WindowRanges::rows_up_to : WindowRanges::rows;
  std::optional<CellWindow> window;  // from the first cell on that it takes
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
          // More core points of that one may be near enough.
          std::atomic_ref<std::uint8_t>(settled[c]).store(0, std::memory_order_relaxed);
        }
      }
    }
    std::atomic_ref<std::uint8_t>(settled[a]).store(united ? 1 : 0, std::memory_order_relaxed);
  }
}

/// A core cell near points that are not core.
struct CoreCell {
  Range points;
  const std::uint32_t* clusters;  // at each level
};

/// The cells around a cell that are at some level in a cluster below its own: there they may lower that of its border points.
void collect_lower(const CellInput& in, std::span<const Range> around, const NumberedLevels& levels, std::uint32_t cell,
                   std::vector<CoreCell>& lower) {
  const auto starts = in.grid.cell_starts();
  const std::size_t count = levels.size();
  // What lies behind the levels is of other cells: below 0 it is not.
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

/// largest_within() where the candidates have bounds, for counts over `largest`.
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

/// Lowers the clusters of a point, at the levels where it is not core, to those of cells in which it has a core neighbour then.
template <class T, std::size_t D>
HWY_INLINE void lower_clusters(const CellInput& in, std::uint32_t p, std::span<const CoreCell> cells,
                               const NumberedLevels& levels, const CellCounts& counts, std::uint32_t* clusters) {
  // Candidates in a cell from which on bounds leave out more than they cost.
  constexpr std::uint32_t kFewestBoundedPoints = 64;
  const std::span<const std::uint32_t> minpts = levels.minpts;
  std::size_t core = 1;  // the first level where it is core: from then on it is
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

void unite_any(const CellInput& in, std::span<const std::uint32_t> cells, std::uint32_t reach, KeptWindows& windows,
               const CellUnions& unions) {
  with_clique_types(in.search,
                    [&]<class T, std::size_t D>() HWY_ATTR { unite<T, D>(in, cells, reach, windows, unions); });
}

void find_any(const CellInput& in, Range cells, const NumberedLevels& levels, const CellCounts& counts,
              std::uint32_t* clusters) {
  with_clique_types(in.search,
                    [&]<class T, std::size_t D>() HWY_ATTR { find<T, D>(in, cells, levels, counts, clusters); });
}

}  // namespace HWY_NAMESPACE
}  // namespace epsflow::clustering
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace epsflow::clustering {

HWY_EXPORT(unite_any);
HWY_EXPORT(find_any);

void unite_cells(const CellInput& in, std::span<const std::uint32_t> cells, std::uint32_t reach, KeptWindows& windows,
                 const CellUnions& unions) {
  HWY_DYNAMIC_DISPATCH(unite_any)(in, cells, reach, windows, unions);
}

void find_cell_clusters(const CellInput& in, Range cells, const NumberedLevels& levels, const CellCounts& counts,
                        std::uint32_t* clusters) {
  HWY_DYNAMIC_DISPATCH(find_any)(in, cells, levels, counts, clusters);
}

}  // namespace epsflow::clustering
#endif
