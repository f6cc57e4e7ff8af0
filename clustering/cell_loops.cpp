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
using index::WindowRanges;
using index::HWY_NAMESPACE::F64;
using index::HWY_NAMESPACE::kLanes64;
using index::HWY_NAMESPACE::load;
using index::HWY_NAMESPACE::RowTest;
using index::HWY_NAMESPACE::to_bits;
using index::HWY_NAMESPACE::V64;
using index::HWY_NAMESPACE::with_types;

namespace hn = hwy::HWY_NAMESPACE;

/// Cells that may share a window.
constexpr std::uint32_t kPooledCells = 8;
/// Tests that cost as much as finding a row of cells around a cell, of which most are empty where cells are sparse.
constexpr std::uint64_t kTestsPerRow = 80;
/// Candidates that are tested sooner than it is foreseen, by a branch, whether a minpts is left between the bounds.
constexpr std::uint32_t kFewestToCompare = 32;
/// Candidates from which on bounds leave out more than they cost: for points that are counted together, and in a cell.
constexpr std::uint64_t kFewestBoundedCandidates = 2048;
constexpr std::uint32_t kFewestBoundedPoints = 64;

/// What the neighbours of a point come to, as far as that is known.
template <class Sum>
struct Bounds {
  Sum least;
  Sum most;
};

/// Neighbours are counted. minpts: ascending, and behind them the largest number there is.
class NeighborCounting {
 public:
  using Sum = std::uint64_t;

  explicit NeighborCounting(std::span<const std::uint32_t> minpts)
      : minpts_(minpts.data()), enough_(minpts[minpts.size() - 2]) {}

  /// What points come to if all of them are neighbours, or enough.
  [[nodiscard]] Sum of(Range points) const { return points.size(); }
  /// The same of points from `first` on, a bit each.
  [[nodiscard]] Sum of(std::uint64_t /*first*/, std::uint32_t bits) const {
    return static_cast<std::uint32_t>(__builtin_popcount(bits));
  }
  /// Whether of() of a range is at hand, and more neighbours never come to less: then points are told apart by bounds.
  [[nodiscard]] static constexpr bool foresees() { return true; }
  /// What a point needs to be core at each minpts, ascending, and behind them more than there can be.
  [[nodiscard]] const std::uint32_t* thresholds() const { return minpts_; }
  /// What is enough for every minpts, however many neighbours there are besides.
  [[nodiscard]] Sum enough() const { return enough_; }
  /// On the same side of each minpts as the sum.
  [[nodiscard]] std::uint32_t count(Sum sum) const { return static_cast<std::uint32_t>(sum); }

 private:
  const std::uint32_t* minpts_;
  std::uint32_t enough_;
};

/// Weights of neighbours are summed.
class WeightCounting {
 public:
  using Sum = WholeWeights::Sum;

  explicit WeightCounting(const Weighing& weighing)
      : weighing_(weighing), units_(weighing.units()), sums_(weighing.sums()), enough_(weighing.levels().enough()) {}

  [[nodiscard]] Sum of(Range points) const {
    if (foresees()) return sums_[points.end] - sums_[points.begin];
    Sum sum = 0;
    for (std::uint32_t p = points.begin; p < points.end && sum < enough_; ++p) sum += units_[p];
    return sum;
  }
  [[nodiscard]] Sum of(std::uint64_t first, std::uint32_t bits) const {
    if (__builtin_popcount(bits) > kFewAtOnce) return sum_at_once(units_ + first, bits);
    Sum sum = 0;
    for (; bits != 0; bits &= bits - 1) sum += units_[first + static_cast<std::uint32_t>(__builtin_ctz(bits))];
    return sum;
  }
  [[nodiscard]] bool foresees() const { return sums_ != nullptr; }
  [[nodiscard]] const Sum* thresholds() const { return weighing_.levels().least_sums().data(); }
  [[nodiscard]] Sum enough() const { return enough_; }
  [[nodiscard]] std::uint32_t count(Sum sum) const { return weighing_.count(sum); }

 private:
  /// So many are added sooner one by one than by vectors.
  static constexpr int kFewAtOnce = 6;

  /// The upper and lower halves are added apart, so that none overflows.
  [[nodiscard]] static HWY_NOINLINE Sum sum_at_once(const std::int64_t* units, std::uint32_t bits) {
    constexpr int kHalf = 32;
    const hn::CappedTag<std::int64_t, kLanes64> d;
    auto high = hn::Zero(d);
    auto low = hn::Zero(d);
    for (std::uint64_t rest = bits; rest != 0; rest >>= hn::Lanes(d), units += hn::Lanes(d)) {
      const auto wanted = hn::LoadMaskBits(d, reinterpret_cast<const std::uint8_t*>(&rest));
      const auto unit = hn::IfThenElseZero(wanted, hn::LoadU(d, units));
      high = hn::Add(high, hn::ShiftRight<kHalf>(unit));
      low = hn::Add(low, hn::And(unit, hn::Set(d, 0xFFFFFFFF)));
    }
    return (Sum{hn::GetLane(hn::SumOfLanes(d, high))} << kHalf) + hn::GetLane(hn::SumOfLanes(d, low));
  }

  const Weighing& weighing_;
  const std::int64_t* units_;
  const Sum* sums_;
  Sum enough_;
};

/// Whether no minpts is left between the bounds: then the upper one tells points apart as what they come to does.
template <class Counting>
[[nodiscard]] bool told(const Counting& counting, const Bounds<typename Counting::Sum>& known) {
  if (!counting.foresees()) return false;
  const auto* threshold = counting.thresholds();
  while (*threshold <= known.least) ++threshold;
  return *threshold > known.most;
}

/// Narrows the bounds of each point by testing the candidates of `open`, until they tell.
template <class T, std::size_t D, class Counting>
HWY_NOINLINE void count_points(const CellInput& in, Range points, std::span<const Range> open,
                               Bounds<typename Counting::Sum> known, const Counting& counting, std::uint32_t* counts) {
  using Sum = typename Counting::Sum;
  const Sum enough = counting.enough();
  for (std::uint32_t p = points.begin; p < points.end; ++p) {
    const RowTest<T, D> test(in.search, p);
    const auto* next = counting.thresholds();
    Sum found = known.least;
    Sum most = known.most;
    for (const Range& range : open) {
      const Sum before = found;
      for (std::uint64_t q = range.begin; q < range.end && found < enough; q += 32) {
        found += counting.of(q, test.word(q, range.end));
      }
      if (counting.foresees()) most -= counting.of(range) - (found - before);
      if (found >= enough) break;
      if (!counting.foresees() || range.size() < kFewestToCompare) continue;
      while (*next <= found) ++next;
      if (*next > most) break;
    }
    counts[p] = counting.count(counting.foresees() ? most : found);
  }
}

/// The bounds of a few points against those of their candidates.
///
/// The distances of bounds are rounded as those of points, one operation after the other, and each operation is monotone:
/// what is computed for the farthest corners is never less than what the test computes for two points within the bounds, and for
/// the nearest ones never more. So no error is to be allowed for.
template <std::size_t D>
class BoundsTest {
 public:
  BoundsTest(const BoundsOrder& order, Range points) : order_(order), limit_(hn::Set(F64(), order.input().limit)) {
    for (std::size_t k = 0; k < D; ++k) {
      if (order.input().precision == Precision::float32) {
        bound<float>(k, points);
      } else {
        bound<double>(k, points);
      }
    }
  }

  /// Calls found(part, level, within) for the bounds of a level that may hold neighbours: with their positions in the range, and
  /// whether all of these are neighbours of all the points.
  template <class F>
  HWY_INLINE void for_each_near(Range range, unsigned level, F&& found) const {
    const unsigned shift = BoundsOrder::shift(level);
    const std::uint32_t end = ((range.end - 1) >> shift) + 1;
    for (std::uint32_t piece = range.begin >> shift; piece < end; piece += kLanes64) {
      std::uint32_t within = 0;
      std::uint32_t near = 0;
      compare(level, piece, within, near);
      for (std::uint32_t bits = near & ((1U << HWY_MIN(end - piece, std::uint32_t{kLanes64})) - 1); bits != 0;
           bits &= bits - 1) {
        const auto lane = static_cast<std::uint32_t>(__builtin_ctz(bits));
        const std::uint64_t first = std::uint64_t{piece + lane} << shift;
        const std::uint64_t last = first + (std::uint64_t{1} << shift);
        found(Range{static_cast<std::uint32_t>(HWY_MAX(first, std::uint64_t{range.begin})),
                    static_cast<std::uint32_t>(HWY_MIN(last, std::uint64_t{range.end}))},
              (within >> lane & 1) != 0);
      }
    }
  }

  /// The level to begin with.
  [[nodiscard]] static unsigned level_of(Range range) {
    unsigned level = 0;
    while (level + 1 < BoundsOrder::kLevels && range.size() >> BoundsOrder::shift(level) >= 4) ++level;
    return level;
  }

 private:
  template <class T>
  void bound(std::size_t k, Range points) {
    const T* x = static_cast<const T*>(order_.input().coordinates[k]);
    const auto [lo, hi] = std::minmax_element(x + points.begin, x + points.end);
    lo_[k] = hn::Set(F64(), static_cast<double>(*lo));
    hi_[k] = hn::Set(F64(), static_cast<double>(*hi));
  }

  HWY_INLINE void compare(unsigned level, std::uint32_t piece, std::uint32_t& within, std::uint32_t& near) const {
    const BoundsOrder::Bounds& bounds = order_.bounds(level);
    V64 nearest = hn::Zero(F64());
    V64 farthest = hn::Zero(F64());
    for (std::size_t k = 0; k < D; ++k) {
      const V64 up = hn::Sub(load(bounds.hi[k].data() + piece), lo_[k]);
      const V64 down = hn::Sub(hi_[k], load(bounds.lo[k].data() + piece));
      const V64 far = hn::Max(up, down);
      const V64 gap = hn::Max(hn::Zero(F64()), hn::Neg(hn::Min(up, down)));
      farthest = hn::Add(farthest, hn::Mul(far, far));
      nearest = hn::Add(nearest, hn::Mul(gap, gap));
    }
    within = to_bits(hn::Le(farthest, limit_));
    near = to_bits(hn::Le(nearest, limit_));
  }

  const BoundsOrder& order_;
  V64 limit_;
  V64 lo_[D];
  V64 hi_[D];
};

/// What a few points have among the candidates of a range: neighbours of all of them, and ranges to be tested.
template <std::size_t D, class Counting>
HWY_NOINLINE void sort_out(const BoundsTest<D>& test, Range range, unsigned level, const Counting& counting,
                           Bounds<typename Counting::Sum>& known, std::vector<Range>& open) {
  test.for_each_near(range, level, [&](Range part, bool within) HWY_ATTR {
    if (!within && level > 0) return sort_out(test, part, level - 1, counting, known, open);
    if (counting.foresees()) known.most += counting.of(part);
    if (within) {
      known.least += counting.of(part);
    } else if (!open.empty() && open.back().end == part.begin) {
      open.back().end = part.end;
    } else {
      open.push_back(part);
    }
  });
}

/// Counts points that share bounds together.
template <class T, std::size_t D, class Counting>
HWY_NOINLINE void count_bounded(const CellInput& in, Range points, std::span<const Range> others,
                                const Counting& counting, std::uint32_t* counts) {
  constexpr std::uint32_t kPiece = 1U << BoundsOrder::shift(0);
  const auto own = counting.of(points);
  std::vector<Range> open;
  for (Range piece{points.begin, 0}; piece.begin < points.end; piece.begin = piece.end) {
    piece.end = piece.begin + HWY_MIN(points.end - piece.begin, kPiece - piece.begin % kPiece);
    const BoundsTest<D> test(*in.bounds, piece);
    Bounds<typename Counting::Sum> known{own, own};
    open.clear();
    for (const Range& range : others) {
      if (known.least < counting.enough()) sort_out(test, range, test.level_of(range), counting, known, open);
    }
    count_points<T, D>(in, piece, open, known, counting, counts);
  }
}

/// Counts for a cell's points. others: what holds all but these points.
template <class T, std::size_t D, class Counting>
HWY_INLINE void count_cell(const CellInput& in, Range points, std::span<const Range> others, const Counting& counting,
                           std::uint32_t* counts) {
  const auto own = counting.of(points);
  Bounds<typename Counting::Sum> known{own, own};
  std::uint64_t candidates = points.size();
  for (const Range& range : others) {
    candidates += range.size();
    if (counting.foresees()) known.most += counting.of(range);
  }
  if (told(counting, known)) {
    std::fill(counts + points.begin, counts + points.end, counting.count(known.most));
  } else if (in.bounds != nullptr && candidates >= kFewestBoundedCandidates) {
    count_bounded<T, D>(in, points, others, counting, counts);
  } else {
    count_points<T, D>(in, points, others, known, counting, counts);
  }
}

/// Where cells hold a point or two, most of the time goes into finding the cells around, not into tests. So a few cells
/// that follow each other share a window, of more candidates than each of them needs: slabs, which in three dimensions are
/// five ranges in place of 25, or where these hold too many points, rows.
template <class T, std::size_t D, class Counting>
void count(const CellInput& in, Range cells, const Counting& counting, std::uint32_t* counts) {
  const auto starts = in.grid.cell_starts();
  const auto points_of = [&](Range some) { return Range{starts[some.begin], starts[some.end]}; };
  const std::uint64_t tests_per_cell = kTestsPerRow * in.grid.keys().neighbor_offsets.size();
  CellWindow slabs(in.grid, cells.begin, in.grid.keys().window, WindowRanges::slabs);
  CellWindow rows(in.grid, cells.begin, in.grid.keys().window, WindowRanges::rows);
  for (std::uint32_t cell = cells.begin; cell < cells.end;) {
    const auto whole = [&](std::uint32_t c) { return counting.of(points_of({c, c + 1})) >= counting.enough(); };
    if (whole(cell)) {
      const Range points = points_of({cell, cell + 1});
      std::fill(counts + points.begin, counts + points.end, counting.count(counting.enough()));
      ++cell;
      continue;
    }
    Range pool{cell, cell + 1};
    while (pool.end < cells.end && pool.size() < kPooledCells && !whole(pool.end)) ++pool.end;
    const auto worth_sharing = [&](CellWindow& window) {
      (void)window.around(pool);
      return window.points() * points_of(pool).size() <= tests_per_cell * pool.size();
    };
    CellWindow& window = worth_sharing(slabs) ? slabs : rows;
    const bool shared = &window == &slabs || worth_sharing(rows);
    for (; cell < pool.end; ++cell) {
      if (!shared) (void)rows.around({cell, cell + 1});
      count_cell<T, D>(in, points_of({cell, cell + 1}), window.others_nearest_first(cell), counting, counts);
    }
  }
}

/// The largest count of a neighbour among the candidates of the range, 0 where there is none. `enough`: where to stop.
template <class T, std::size_t D>
HWY_INLINE std::uint32_t largest_within(const RowTest<T, D>& test, Range range, const std::uint32_t* counts,
                                        std::uint32_t enough) {
  std::uint32_t largest = 0;
  for (std::uint64_t q = range.begin; q < range.end; q += 32) {
    for (std::uint32_t bits = test.word(q, range.end); bits != 0; bits &= bits - 1) {
      const std::uint32_t count = counts[q + static_cast<std::uint32_t>(__builtin_ctz(bits))];
      if (count >= enough) return count;
      largest = HWY_MAX(largest, count);
    }
  }
  return largest;
}

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
void unite(const CellInput& in, Range cells, std::uint32_t minpts, std::uint32_t reach, const std::uint32_t* counts,
           const std::uint8_t* gained, std::uint32_t* parent) {
  const auto starts = in.grid.cell_starts();
  const UnionFind sets({parent, in.grid.cells()});
  CellWindow window(in.grid, cells.begin, reach, WindowRanges::rows_up_to);
  for (std::uint32_t a = cells.begin; a < cells.end; ++a) {
    if (sets.parent(a) == kNotCore) continue;
    std::uint32_t root = sets.find(a);
    for (const Range& row : window.around({a, a + 1})) {
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

/// Calls f.operator()<T, D>() for the one to three dimensions that clique cells have.
template <class F>
HWY_INLINE void with_clique_types(const SearchInput& in, F f) {
  with_types(in, [&]<class T, std::size_t D>() HWY_ATTR {
    if constexpr (D >= 1 && D <= index::kMostCliqueDims) f.template operator()<T, D>();
  });
}

void count_any(const CellInput& in, Range cells, std::span<const std::uint32_t> minpts, std::uint32_t* counts) {
  with_clique_types(
      in.search, [&]<class T, std::size_t D>() HWY_ATTR { count<T, D>(in, cells, NeighborCounting(minpts), counts); });
}

void weigh_any(const CellInput& in, Range cells, const Weighing& weighing, std::uint32_t* counts) {
  with_clique_types(
      in.search, [&]<class T, std::size_t D>() HWY_ATTR { count<T, D>(in, cells, WeightCounting(weighing), counts); });
}

void unite_any(const CellInput& in, Range cells, std::uint32_t minpts, std::uint32_t reach, const std::uint32_t* counts,
               const std::uint8_t* gained, std::uint32_t* parent) {
  with_clique_types(in.search, [&]<class T, std::size_t D>()
                                   HWY_ATTR { unite<T, D>(in, cells, minpts, reach, counts, gained, parent); });
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

HWY_EXPORT(count_any);
HWY_EXPORT(weigh_any);
HWY_EXPORT(unite_any);
HWY_EXPORT(find_any);

void count_cells(const CellInput& in, Range cells, std::span<const std::uint32_t> minpts, std::uint32_t* counts) {
  HWY_DYNAMIC_DISPATCH(count_any)(in, cells, minpts, counts);
}

void weigh_cells(const CellInput& in, Range cells, const Weighing& weighing, std::uint32_t* counts) {
  HWY_DYNAMIC_DISPATCH(weigh_any)(in, cells, weighing, counts);
}

void unite_cells(const CellInput& in, Range cells, std::uint32_t minpts, std::uint32_t reach,
                 const std::uint32_t* counts, const std::uint8_t* gained, std::uint32_t* parent) {
  HWY_DYNAMIC_DISPATCH(unite_any)(in, cells, minpts, reach, counts, gained, parent);
}

void find_cell_clusters(const CellInput& in, Range cells, const NumberedLevels& levels, const CellCounts& counts,
                        std::uint32_t* clusters) {
  HWY_DYNAMIC_DISPATCH(find_any)(in, cells, levels, counts, clusters);
}

}  // namespace epsflow::clustering
#endif
