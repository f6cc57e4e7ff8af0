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

/// Candidates in a cell from which on bounds leave out more than they cost.
constexpr std::uint32_t kFewestBoundedPoints = 64;

/// Pairs of two cells that are tested one by one: in most cells that are within eps of each other one of the first is.
/// Beyond, they are looked for by bisection.
constexpr std::uint64_t kMostPairs = 16 * 1024;

template <class T, std::size_t D>
bool cells_within(const CellInput& in, Range a, Range b, const std::uint32_t* counts, std::uint32_t minpts) {
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
void unite(const CellInput& in, Range cells, const CoreLevel& level, std::uint32_t reach, const std::uint32_t* counts,
           const std::uint8_t* gained, std::uint8_t* settled, std::uint32_t* parent) {
  const std::uint32_t minpts = level.minpts;
  const auto starts = in.grid.cell_starts();
  const UnionFind sets({parent, in.grid.cells()});
  // Of two cells that the level gains, the later sees the pair; of others, the one that is gained.
  CellWindow window(in.grid, cells.begin, reach, level.first() ? WindowRanges::rows_up_to : WindowRanges::rows);
  for (std::uint32_t a = cells.begin; a < cells.end; ++a) {
    if (gained[a] == 0) continue;
    std::uint32_t root = sets.find(a);
    bool united = !level.first();
    for (const Range& row : window.around({a, a + 1})) {
      for (std::uint32_t c = row.begin; c < (level.first() ? HWY_MIN(row.end, a) : row.end); ++c) {
        const std::uint32_t p = sets.parent(c);
        // A cell that becomes core later will look at this one.
        if (p == kNotCore || p == root) continue;
        if (c > a && gained[c] != 0) {
          united = false;
          continue;
        }
        root = sets.find(a);
        if (sets.find(c) == root) continue;
        if (cells_within<T, D>(in, {starts[a], starts[a + 1]}, {starts[c], starts[c + 1]}, counts, minpts)) {
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
struct BorderCell {
  Range points;
  const std::uint32_t* clusters;  // at each level
};

/// largest_within() where the candidates have bounds, for counts over `largest`.
template <class T, std::size_t D>
HWY_NOINLINE void largest_in_bounds(const BoundsTest<D>& bounds, const RowTest<T, D>& test, Range range, unsigned level,
                                    const CellCounts& counts, std::uint32_t enough, std::uint32_t& largest) {
  bounds.for_each_near(range, level, [&](Range part, bool) HWY_ATTR {
    if (largest >= enough) return;
    if (level > 0) return largest_in_bounds(bounds, test, part, level - 1, counts, enough, largest);
    if (counts.of_bounds[part.begin >> BoundsOrder::shift(0)] <= largest) return;
    largest = HWY_MAX(largest, largest_within(test, part, counts.of_points, enough));
  });
}

/// Lowers the clusters of a point at the levels before `core`, where it is not core, to those of cells in which it has a core
/// neighbour then.
template <class T, std::size_t D>
HWY_INLINE void find_border(const CellInput& in, std::uint32_t p, std::span<const BorderCell> cells,
                            std::span<const std::uint32_t> minpts, std::size_t core, const CellCounts& counts,
                            std::uint32_t* clusters) {
  const RowTest<T, D> test(in.search, p);
  for (const BorderCell& cell : cells) {
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
  std::vector<BorderCell> lower;  // core cells around, of clusters below the cell's own
  for (std::uint32_t a = cells.begin; a < cells.end; ++a) {
    const std::uint32_t* own = levels.clusters + a * count;
    bool collected = false;
    for (std::uint32_t p = starts[a]; p < starts[a + 1]; ++p, clusters += count) {
      for (std::size_t l = 0; l < count; ++l) clusters[l] = own[l];
      if (counts.of_points[p] >= levels.minpts.front() || counts.of_points[p] == counts.alone) continue;
      if (!collected) {
        // What lies behind the levels is of other cells: below 0 it is not.
        std::array<std::uint32_t, kLevelsAtOnce> limits{};
        std::copy(own, own + count, limits.begin());
        lower.clear();
        for (const Range& row : window.around({a, a + 1})) {
          for (std::uint32_t c = row.begin; c < row.end; ++c) {
            const std::uint32_t* of_cell = levels.clusters + c * count;
            bool below = false;
            for (std::size_t l = 0; l < kLevelsAtOnce; ++l) below |= of_cell[l] < limits[l];
            if (below) lower.push_back({{starts[c], starts[c + 1]}, of_cell});
          }
        }
        collected = true;
      }
      if (lower.empty()) continue;
      std::size_t core = 1;
      while (core < count && counts.of_points[p] < levels.minpts[core]) ++core;
      find_border<T, D>(in, p, lower, levels.minpts, core, counts, clusters);
    }
  }
}

void unite_any(const CellInput& in, Range cells, const CoreLevel& level, std::uint32_t reach,
               const std::uint32_t* counts, const std::uint8_t* gained, std::uint8_t* settled, std::uint32_t* parent) {
  with_clique_types(in.search, [&]<class T, std::size_t D>()
                                   HWY_ATTR { unite<T, D>(in, cells, level, reach, counts, gained, settled, parent); });
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

void unite_cells(const CellInput& in, Range cells, const CoreLevel& level, std::uint32_t reach,
                 const std::uint32_t* counts, const std::uint8_t* gained, std::uint8_t* settled,
                 std::uint32_t* parent) {
  HWY_DYNAMIC_DISPATCH(unite_any)(in, cells, level, reach, counts, gained, settled, parent);
}

void find_cell_clusters(const CellInput& in, Range cells, const NumberedLevels& levels, const CellCounts& counts,
                        std::uint32_t* clusters) {
  HWY_DYNAMIC_DISPATCH(find_any)(in, cells, levels, counts, clusters);
}

}  // namespace epsflow::clustering
#endif
