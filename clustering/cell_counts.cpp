#include <epsflow/clustering/cell_loops.hpp>

#include <epsflow/index/instruction_sets.hpp>
// Must come before any header of Highway.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "epsflow/clustering/cell_counts.cpp"  // NOLINT: compiled once per instruction set
#include <hwy/foreach_target.h>
// foreach_target.h must come first
#include <hwy/highway.h>

#include <algorithm>
#include <vector>

#include <epsflow/clustering/cell_loops-inl.hpp>
#include <epsflow/index/cell_window.hpp>

HWY_BEFORE_NAMESPACE();
namespace epsflow::clustering {
namespace HWY_NAMESPACE {

using index::CellWindow;
using index::WindowRanges;

/// Largest number of cells that share a window.
constexpr std::uint32_t kPooledCells = 8;
/// Number of tests that cost as much as finding a row of cells around a cell; in sparse grids most rows are empty.
constexpr std::uint64_t kTestsPerRow = 80;
/// Up to this number of candidates, testing them is faster than a branch that compares the bounds with each minpts.
constexpr std::uint32_t kFewestToCompare = 32;
/// From this number of candidates of points that are counted together, bounds save more tests than they cost.
constexpr std::uint64_t kFewestBoundedCandidates = 2048;

/// Bounds of the count or weight of the neighbours of a point.
template <class Sum>
struct SumBounds {
  Sum least;
  Sum most;
};

/// Counts neighbours. minpts: ascending, followed by the largest std::uint32_t.
class NeighborCounting {
 public:
  using Sum = std::uint64_t;

  explicit NeighborCounting(std::span<const std::uint32_t> minpts)
      : minpts_(minpts.data()), enough_(minpts[minpts.size() - 2]) {}

  /// Returns the count of points if all of them are neighbours, or enough().
  [[nodiscard]] Sum of(Range points) const { return points.size(); }
  /// Returns the count of the points from `first` on with a set bit.
  [[nodiscard]] Sum of(std::uint64_t /*first*/, std::uint32_t bits) const {
    return static_cast<std::uint32_t>(__builtin_popcount(bits));
  }
  /// Returns true if of() of a range is cheap and more neighbours never decrease the sum: bounds then decide points.
  [[nodiscard]] static constexpr bool foresees() { return true; }
  /// Returns the thresholds of being core at each minpts, ascending, followed by a value that is never reached.
  [[nodiscard]] const std::uint32_t* thresholds() const { return minpts_; }
  /// Returns a sum that suffices for every minpts, whatever the other neighbours are.
  [[nodiscard]] Sum enough() const { return enough_; }
  /// Returns the smallest minpts, at which a point that is not counted is not core; 0 if all points are counted.
  [[nodiscard]] std::uint32_t least() const { return minpts_[0]; }
  /// Returns a count that reaches the same minpts as the sum.
  [[nodiscard]] std::uint32_t count(Sum sum) const { return static_cast<std::uint32_t>(sum); }

 private:
  const std::uint32_t* minpts_;
  std::uint32_t enough_;
};

/// Sums the weights of neighbours.
class WeightCounting {
 public:
  using Sum = WeightSum;

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
  [[nodiscard]] static constexpr std::uint32_t least() { return 0; }
  [[nodiscard]] std::uint32_t count(Sum sum) const { return weighing_.count(sum); }

 private:
  /// Up to this number, adding one by one is faster than by vectors.
  static constexpr int kFewAtOnce = 6;

  /// The upper and lower halves are added separately, so that neither overflows.
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

/// Returns true if no minpts is between the bounds: the upper bound then decides points as the exact sum does.
template <class Counting>
[[nodiscard]] bool told(const Counting& counting, const SumBounds<typename Counting::Sum>& known) {
  if (!counting.foresees()) return false;
  const auto* threshold = counting.thresholds();
  while (*threshold <= known.least) ++threshold;
  return *threshold > known.most;
}

/// Narrows the bounds of each point by testing the candidates of `open`, until no minpts is between them.
template <class T, std::size_t D, class Counting, class Sum = typename Counting::Sum>
HWY_NOINLINE void count_points(const CellInput& in, Range points, std::span<const Range> open, SumBounds<Sum> known,
                               const Counting& counting, std::uint32_t* counts) {
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

/// Classifies the candidates of a range for a few points: adds neighbours of all to the bounds, lists ranges to be
/// tested.
template <std::size_t D, class Counting>
HWY_NOINLINE void sort_out(const BoundsTest<D>& test, Range range, unsigned level, const Counting& counting,
                           SumBounds<typename Counting::Sum>& known, std::vector<Range>& open) {
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
    SumBounds<typename Counting::Sum> known{own, own};
    open.clear();
    for (const Range& range : others) {
      if (known.least < counting.enough()) sort_out(test, range, test.level_of(range), counting, known, open);
    }
    count_points<T, D>(in, piece, open, known, counting, counts);
  }
}

/// Counts for a cell's points. others: holds all candidates except these points.
template <class T, std::size_t D, class Counting>
HWY_INLINE void count_cell(const CellInput& in, Range points, std::span<const Range> others, const Counting& counting,
                           std::uint32_t* counts) {
  const auto own = counting.of(points);
  SumBounds<typename Counting::Sum> known{own, own};
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

/// If cells have a point or two, most of the time is spent on finding the cells around, not on tests. So a few
/// consecutive cells share a window, with more candidates than each of them needs: slabs, which in three dimensions are
/// five ranges instead of 25, or rows if slabs have too many points. The cells must be in one slice: the range between
/// cells of two slices would include cells near neither.
template <class T, std::size_t D, class Counting>
void count(const CellInput& in, Range cells, const Counting& counting, std::uint32_t* counts) {
  const auto starts = in.grid.cell_starts();
  const auto points_of = [&](Range some) { return Range{starts[some.begin], starts[some.end]}; };
  const std::uint64_t tests_per_cell = kTestsPerRow * in.grid.keys().neighbor_offsets.size();
  CellWindow slabs(in.grid, cells.begin, in.grid.keys().window, WindowRanges::slabs);
  CellWindow rows(in.grid, cells.begin, in.grid.keys().window, WindowRanges::rows);
  const auto ids = in.grid.order();
  const auto uncounted = [&](std::uint32_t c) {
    return in.counted != CellInput::kAll && starts[c + 1] - starts[c] < counting.least() &&
           ids[starts[c]] >= in.counted;
  };
  for (std::uint32_t cell = cells.begin; cell < cells.end;) {
    const auto whole = [&](std::uint32_t c) { return counting.of(points_of({c, c + 1})) >= counting.enough(); };
    if (uncounted(cell)) {
      std::fill(counts + starts[cell], counts + starts[cell + 1], 1U);
      ++cell;
      continue;
    }
    if (whole(cell)) {
      const Range points = points_of({cell, cell + 1});
      std::fill(counts + points.begin, counts + points.end, counting.count(counting.enough()));
      ++cell;
      continue;
    }
    Range pool{cell, cell + 1};
    while (pool.end < cells.end && pool.size() < kPooledCells && !whole(pool.end) && !uncounted(pool.end) &&
           in.grid.same_slice(cell, pool.end)) {
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
      count_cell<T, D>(in, points_of({cell, cell + 1}), window.others_nearest_first(cell), counting, counts);
    }
  }
}

void count_any(const CellInput& in, Range cells, std::span<const std::uint32_t> minpts, std::uint32_t* counts) {
  with_dense_box_types(
      in.search, [&]<class T, std::size_t D>() HWY_ATTR { count<T, D>(in, cells, NeighborCounting(minpts), counts); });
}

void weigh_any(const CellInput& in, Range cells, const Weighing& weighing, std::uint32_t* counts) {
  with_dense_box_types(
      in.search, [&]<class T, std::size_t D>() HWY_ATTR { count<T, D>(in, cells, WeightCounting(weighing), counts); });
}

}  // namespace HWY_NAMESPACE
}  // namespace epsflow::clustering
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace epsflow::clustering {

HWY_EXPORT(count_any);
HWY_EXPORT(weigh_any);

void count_cells(const CellInput& in, Range cells, std::span<const std::uint32_t> minpts, std::uint32_t* counts) {
  HWY_DYNAMIC_DISPATCH(count_any)(in, cells, minpts, counts);
}

void weigh_cells(const CellInput& in, Range cells, const Weighing& weighing, std::uint32_t* counts) {
  HWY_DYNAMIC_DISPATCH(weigh_any)(in, cells, weighing, counts);
}

}  // namespace epsflow::clustering
#endif
