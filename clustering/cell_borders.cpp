#include <epsflow/clustering/cell_loops.hpp>

#include <epsflow/index/instruction_sets.hpp>
// Must come before any header of Highway.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "epsflow/clustering/cell_borders.cpp"  // NOLINT: compiled once per instruction set
#include <hwy/foreach_target.h>
// foreach_target.h must come first
#include <hwy/highway.h>

#include <algorithm>
#include <vector>

#include <epsflow/clustering/cell_loops-inl.hpp>
#include <epsflow/clustering/size_adder.hpp>
#include <epsflow/clustering/union_find.hpp>
#include <epsflow/index/cell_window.hpp>

HWY_BEFORE_NAMESPACE();
namespace epsflow::clustering {
namespace HWY_NAMESPACE {

using index::CellWindow;

template <class T, std::size_t D>
void find_borders(const CellInput& in, Range cells, std::uint32_t minpts, const CellCounts& counts,
                  const std::uint32_t* largest, std::vector<BorderPoint>& found) {
  const auto starts = in.grid.cell_starts();
  CellWindow window(in.grid, cells.begin, in.grid.keys().window);
  std::vector<std::uint32_t> around;  // cells with a larger count than the cell's own largest
  for (std::uint32_t a = cells.begin; a < cells.end; ++a) {
    bool collected = false;
    for (std::uint32_t p = starts[a]; p < starts[a + 1]; ++p) {
      const std::uint32_t count = counts.of_points[p];
      if (count >= minpts || count == counts.alone) continue;
      if (!collected) {
        around.clear();
        for (const Range& row : window.around({a, a + 1})) {
          for (std::uint32_t c = row.begin; c < row.end; ++c) {
            if (largest[c] > largest[a]) around.push_back(c);
          }
        }
        // The most decisive cells come first.
        std::sort(around.begin(), around.end(), [&](auto b, auto c) { return largest[b] > largest[c]; });
        collected = true;
      }
      std::uint32_t reach = largest[a];  // every point of the cell is a neighbour
      if (!around.empty() && reach < minpts) {
        const RowTest<T, D> test(in.search, p);
        for (const std::uint32_t c : around) {
          if (reach >= minpts || largest[c] <= reach) break;
          reach = HWY_MAX(
              reach, largest_within(test, {starts[c], starts[c + 1]}, counts.of_points, HWY_MIN(largest[c], minpts)));
        }
      }
      if (reach > count) found.push_back({p, a, count, reach});
    }
  }
}

/// A core cell near a border point.
struct NearCell {
  std::uint32_t number;
  Range points;
};

/// Returns the root of all core cells around; kNoHome if they are not known to be in one set.
std::uint32_t root_around(BorderCell& cell, const UnionFind& sets) {
  if (cell.home == BorderCell::kNoHome) return BorderCell::kNoHome;
  const std::uint32_t root = sets.find(cell.home);
  std::uint32_t left = 0;
  for (std::uint32_t i = 0; i < cell.pending_count; ++i) {
    const std::uint32_t c = cell.pending[i];
    if (sets.parent(c) == kNotCore) {
      cell.pending[left++] = c;
    } else if (sets.find(c) != root) {
      cell.home = BorderCell::kNoHome;
      return BorderCell::kNoHome;
    }
  }
  cell.pending_count = left;
  return root;
}

template <class T, std::size_t D>
std::uint32_t count_borders(const CellInput& in, BlockBorders& of, const BorderCount& count) {
  const std::uint32_t minpts = count.minpts;
  const std::uint32_t* const counts = count.counts;
  const std::uint32_t* const largest = count.largest;
  std::uint32_t* const parent = count.parent;
  const std::uint32_t* const numbers = count.numbers;
  const auto starts = in.grid.cell_starts();
  const UnionFind sets({parent, in.grid.cells()});
  CellWindow window(in.grid, of.cells.front().cell, in.grid.keys().window);
  SizeAdder adder(count.sizes);
  std::vector<NearCell> near;  // cells of clusters that a point of the cell may belong to, lowest numbers first
  std::uint32_t borders = 0;
  for (BorderCell& cell : of.cells) {
    if (minpts <= cell.least || minpts > cell.most) continue;
    const auto points = std::span(of.points).subspan(cell.points.begin, cell.points.size());
    const auto here = static_cast<std::uint32_t>(
        std::count_if(points.begin(), points.end(), [&](const BorderPoint& point) { return point.border(minpts); }));
    if (here == 0) continue;
    borders += here;
    if (const std::uint32_t root = root_around(cell, sets); root != BorderCell::kNoHome) {
      adder.add(numbers[root], here);
      continue;
    }
    const bool core = sets.parent(cell.cell) != kNotCore;
    // Every point of a core cell has a core neighbour in it, so only lower clusters matter.
    const std::uint32_t own = core ? numbers[sets.find(cell.cell)] : kNoCluster;
    std::uint32_t lowest = own, highest = core ? own : 0, home = cell.cell;
    std::size_t pending = 0;
    near.clear();
    for (const Range& row : window.around({cell.cell, cell.cell + 1})) {
      for (std::uint32_t c = row.begin; c < row.end; ++c) {
        if (sets.parent(c) == kNotCore) {
          if (largest[c] <= cell.least) continue;
          if (pending < cell.pending.size()) cell.pending[pending] = c;
          ++pending;
          continue;
        }
        const std::uint32_t number = numbers[sets.find(c)];
        lowest = HWY_MIN(lowest, number);
        highest = HWY_MAX(highest, number);
        if (!core) home = c;
        if (number < own) near.push_back({number, {starts[c], starts[c + 1]}});
      }
    }
    if (lowest == highest) {
      cell.pending_count = static_cast<std::uint32_t>(pending);
      cell.home = pending <= cell.pending.size() ? home : BorderCell::kNoHome;
      adder.add(lowest, here);
      continue;
    }
    std::sort(near.begin(), near.end(), [](const NearCell& a, const NearCell& b) { return a.number < b.number; });
    // The cell's own cluster is the last, without a test.
    if (core) near.push_back({own, {}});
    for (const BorderPoint& point : points) {
      if (!point.border(minpts)) continue;
      std::size_t first = 0;
      // The last cluster needs no test, because the point is border.
      if (near.front().number != near.back().number) {
        const RowTest<T, D> test(in.search, point.position);
        while (near[first].number != near.back().number &&
               largest_within(test, near[first].points, counts, minpts) < minpts) {
          ++first;
        }
      }
      adder.add(near[first].number);
    }
  }
  return borders;
}

void find_borders_any(const CellInput& in, Range cells, std::uint32_t minpts, const CellCounts& counts,
                      const std::uint32_t* largest, std::vector<BorderPoint>& found) {
  with_dense_box_types(in.search, [&]<class T, std::size_t D>()
                                      HWY_ATTR { find_borders<T, D>(in, cells, minpts, counts, largest, found); });
}

std::uint32_t count_borders_any(const CellInput& in, BlockBorders& borders, const BorderCount& count) {
  std::uint32_t found = 0;
  with_dense_box_types(in.search,
                       [&]<class T, std::size_t D>() HWY_ATTR { found = count_borders<T, D>(in, borders, count); });
  return found;
}

}  // namespace HWY_NAMESPACE
}  // namespace epsflow::clustering
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace epsflow::clustering {

HWY_EXPORT(find_borders_any);
HWY_EXPORT(count_borders_any);

void find_border_points(const CellInput& in, Range cells, std::uint32_t minpts, const CellCounts& counts,
                        const std::uint32_t* largest, std::vector<BorderPoint>& found) {
  HWY_DYNAMIC_DISPATCH(find_borders_any)(in, cells, minpts, counts, largest, found);
}

std::uint32_t count_border_points(const CellInput& in, BlockBorders& borders, const BorderCount& count) {
  if (borders.cells.empty()) return 0;
  return HWY_DYNAMIC_DISPATCH(count_borders_any)(in, borders, count);
}

}  // namespace epsflow::clustering
#endif
