#include <epsflow/clustering/cell_loops.hpp>

// Instruction sets that add nothing here, or whose vectors have no size at compile time.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "epsflow/clustering/cell_loops.cpp"  // NOLINT: compiled once per instruction set
#include <hwy/foreach_target.h>
// foreach_target.h must come first
#include <hwy/highway.h>

#include <algorithm>
#include <vector>

#include <epsflow/clustering/cells_within.hpp>
#include <epsflow/clustering/union_find.hpp>
#include <epsflow/index/cell_window.hpp>
#include <epsflow/index/row_test-inl.hpp>

HWY_BEFORE_NAMESPACE();
namespace epsflow::clustering {
namespace HWY_NAMESPACE {

using index::CellWindow;
using index::SearchInput;
using index::WindowRuns;
using index::HWY_NAMESPACE::RowTest;
using index::HWY_NAMESPACE::with_types;

/// Cells that may share a window.
constexpr std::uint32_t kPooledCells = 8;
/// Tests that cost as much as finding a row of cells around a cell, of which most are empty where cells are sparse.
constexpr std::uint64_t kTestsPerRow = 80;

/// Counts the neighbours of a cell's points, which are less than `most`. others: what holds all but these points.
template <class T, std::size_t D>
HWY_INLINE void count_cell(const SearchInput& in, Run points, std::span<const Run> others, std::uint32_t most,
                           std::uint32_t least, std::uint32_t* counts) {
  std::uint64_t candidates = points.size();
  for (const Run& run : others) candidates += run.size();
  if (candidates < least) {
    std::fill(counts + points.begin, counts + points.end, candidates == 1 ? 1U : 0U);
    return;
  }
  for (std::uint32_t p = points.begin; p < points.end; ++p) {
    const RowTest<T, D> test(in, p);
    std::uint64_t found = points.size();
    for (const Run& run : others) {
      for (std::uint64_t q = run.begin; q < run.end && found < most; q += 32) {
        found += static_cast<std::uint32_t>(__builtin_popcount(test.word(q, run.end)));
      }
    }
    counts[p] = static_cast<std::uint32_t>(HWY_MIN(found, most));
  }
}

/// Where cells hold a point or two, most of the time goes into finding the cells around, not into tests. So a few cells
/// that follow each other share a window, of more candidates than each of them needs: slabs, which in three dimensions are
/// five runs in place of 25, or where these hold too many points, rows.
template <class T, std::size_t D>
void count(const CellInput& in, Run cells, std::uint32_t most, std::uint32_t least, std::uint32_t* counts) {
  const auto starts = in.grid.cell_starts();
  const auto points_of = [&](Run some) { return Run{starts[some.begin], starts[some.end]}; };
  const std::uint64_t tests_per_cell = kTestsPerRow * in.grid.keys().neighbor_offsets.size();
  CellWindow slabs(in.grid, cells.begin, in.grid.keys().window, WindowRuns::slabs);
  CellWindow rows(in.grid, cells.begin, in.grid.keys().window, WindowRuns::rows);
  for (std::uint32_t cell = cells.begin; cell < cells.end;) {
    if (const Run points = points_of({cell, cell + 1}); points.size() >= most) {
      std::fill(counts + points.begin, counts + points.end, most);
      ++cell;
      continue;
    }
    Run pool{cell, cell + 1};
    while (pool.end < cells.end && pool.size() < kPooledCells && points_of({pool.end, pool.end + 1}).size() < most) {
      ++pool.end;
    }
    const auto worth_sharing = [&](CellWindow& window) {
      (void)window.around(pool);
      return window.points() * points_of(pool).size() <= tests_per_cell * pool.size();
    };
    CellWindow& window = worth_sharing(slabs) ? slabs : rows;
    const bool shared = &window == &slabs || worth_sharing(rows);
    for (; cell < pool.end; ++cell) {
      if (!shared) (void)rows.around({cell, cell + 1});
      count_cell<T, D>(in.search, points_of({cell, cell + 1}), window.others_nearest_first(cell), most, least, counts);
    }
  }
}

/// Whether a candidate of the run is core and a neighbour.
template <class T, std::size_t D>
HWY_INLINE bool core_within(const RowTest<T, D>& test, Run run, const std::uint32_t* counts, std::uint32_t minpts) {
  for (std::uint64_t q = run.begin; q < run.end; q += 32) {
    for (std::uint32_t bits = test.word(q, run.end); bits != 0; bits &= bits - 1) {
      if (counts[q + static_cast<std::uint32_t>(__builtin_ctz(bits))] >= minpts) return true;
    }
  }
  return false;
}

/// Pairs of two cells that are tested one by one: in most cells that are within eps of each other one of the first is.
/// Beyond, they are looked for by bisection.
constexpr std::uint64_t kMostPairs = 16 * 1024;

template <class T, std::size_t D>
bool cells_within(const CellInput& in, Run a, Run b, const std::uint32_t* counts, std::uint32_t minpts) {
  if (a.size() > b.size()) std::swap(a, b);
  std::uint64_t tested = 0;
  for (std::uint32_t p = a.begin; p < a.end; ++p) {
    if (counts[p] < minpts) continue;
    if (tested > kMostPairs) return any_core_within(in.search, a, b, counts, minpts);
    tested += b.size();
    const RowTest<T, D> test(in.search, p);
    if (core_within(test, b, counts, minpts)) return true;
  }
  return false;
}

template <class T, std::size_t D>
void unite(const CellInput& in, Run cells, std::uint32_t minpts, std::uint32_t reach, const std::uint32_t* counts,
           const std::uint8_t* gained, std::uint32_t* parent) {
  const auto starts = in.grid.cell_starts();
  const UnionFind sets({parent, in.grid.cells()});
  CellWindow window(in.grid, cells.begin, reach, WindowRuns::rows_up_to);
  for (std::uint32_t a = cells.begin; a < cells.end; ++a) {
    if (sets.parent(a) == kNotCore) continue;
    std::uint32_t root = sets.find(a);
    for (const Run& row : window.around({a, a + 1})) {
      for (std::uint32_t c = row.begin; c < HWY_MIN(row.end, a); ++c) {
        const std::uint32_t p = sets.parent(c);
        if (p == kNotCore || p == root || (gained[a] | gained[c]) == 0) continue;
        root = sets.find(a);
        if (sets.find(c) == root) continue;
        if (cells_within<T, D>(in, {starts[a], starts[a + 1]}, {starts[c], starts[c + 1]}, counts, minpts)) {
          root = sets.unite(a, c);
        }
      }
    }
  }
}

struct BorderCell {
  Run points;
  std::uint32_t cluster;
};

template <class T, std::size_t D>
void find(const CellInput& in, Run cells, std::uint32_t minpts, const std::uint32_t* counts,
          const std::uint32_t* parent, const std::uint32_t* number, std::uint32_t* clusters) {
  const auto starts = in.grid.cell_starts();
  CellWindow window(in.grid, cells.begin, in.grid.keys().window);
  std::vector<BorderCell> lower;  // core cells around of clusters below the cell's own
  for (std::uint32_t a = cells.begin; a < cells.end; ++a) {
    const std::uint32_t own = parent[a] == kNotCore ? kNoCluster : number[parent[a]];
    bool collected = false;
    for (std::uint32_t p = starts[a]; p < starts[a + 1]; ++p) {
      std::uint32_t cluster = own;
      if (counts[p] < minpts && counts[p] != 1) {  // 1: alone
        if (!collected) {
          lower.clear();
          for (const Run& row : window.around({a, a + 1})) {
            for (std::uint32_t c = row.begin; c < row.end; ++c) {
              if (parent[c] == kNotCore || number[parent[c]] >= own) continue;
              lower.push_back({{starts[c], starts[c + 1]}, number[parent[c]]});
            }
          }
          collected = true;
        }
        if (!lower.empty()) {
          const RowTest<T, D> test(in.search, p);
          for (const BorderCell& cell : lower) {
            if (cell.cluster < cluster && core_within(test, cell.points, counts, minpts)) cluster = cell.cluster;
          }
        }
      }
      *clusters++ = cluster;
    }
  }
}

/// Calls f.operator()<T, D>() for the one to three dimensions that clique cells have.
template <class F>
HWY_INLINE void with_clique_types(const SearchInput& in, F f) {
  with_types(in, [&]<class T, std::size_t D>() HWY_ATTR {
    if constexpr (D >= 1 && D <= index::kMostCliqueDims) f.template operator()<T, D>();
  });
}

void count_any(const CellInput& in, Run cells, std::uint32_t most, std::uint32_t least, std::uint32_t* counts) {
  with_clique_types(in.search, [&]<class T, std::size_t D>() HWY_ATTR { count<T, D>(in, cells, most, least, counts); });
}

void unite_any(const CellInput& in, Run cells, std::uint32_t minpts, std::uint32_t reach, const std::uint32_t* counts,
               const std::uint8_t* gained, std::uint32_t* parent) {
  with_clique_types(in.search, [&]<class T, std::size_t D>()
                                   HWY_ATTR { unite<T, D>(in, cells, minpts, reach, counts, gained, parent); });
}

void find_any(const CellInput& in, Run cells, std::uint32_t minpts, const std::uint32_t* counts,
              const std::uint32_t* parent, const std::uint32_t* number, std::uint32_t* clusters) {
  with_clique_types(in.search, [&]<class T, std::size_t D>()
                                   HWY_ATTR { find<T, D>(in, cells, minpts, counts, parent, number, clusters); });
}

}  // namespace HWY_NAMESPACE
}  // namespace epsflow::clustering
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace epsflow::clustering {

HWY_EXPORT(count_any);
HWY_EXPORT(unite_any);
HWY_EXPORT(find_any);

void count_cells(const CellInput& in, Run cells, std::uint32_t most, std::uint32_t least, std::uint32_t* counts) {
  HWY_DYNAMIC_DISPATCH(count_any)(in, cells, most, least, counts);
}

void unite_cells(const CellInput& in, Run cells, std::uint32_t minpts, std::uint32_t reach, const std::uint32_t* counts,
                 const std::uint8_t* gained, std::uint32_t* parent) {
  HWY_DYNAMIC_DISPATCH(unite_any)(in, cells, minpts, reach, counts, gained, parent);
}

void find_cell_clusters(const CellInput& in, Run cells, std::uint32_t minpts, const std::uint32_t* counts,
                        const std::uint32_t* parent, const std::uint32_t* number, std::uint32_t* clusters) {
  HWY_DYNAMIC_DISPATCH(find_any)(in, cells, minpts, counts, parent, number, clusters);
}

}  // namespace epsflow::clustering
#endif
