// Shared code of the loops over dense-box cells. Each source that includes it compiles it once per instruction set.
#if defined(EPSFLOW_CLUSTERING_CELL_LOOPS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef EPSFLOW_CLUSTERING_CELL_LOOPS_INL_HPP
#undef EPSFLOW_CLUSTERING_CELL_LOOPS_INL_HPP
#else
#define EPSFLOW_CLUSTERING_CELL_LOOPS_INL_HPP
#endif

#include <hwy/highway.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <epsflow/clustering/bounds_order.hpp>
#include <epsflow/index/row_test-inl.hpp>

HWY_BEFORE_NAMESPACE();
namespace epsflow::clustering {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using index::SearchInput;
using index::HWY_NAMESPACE::F64;
using index::HWY_NAMESPACE::kLanes64;
using index::HWY_NAMESPACE::load;
using index::HWY_NAMESPACE::RowTest;
using index::HWY_NAMESPACE::to_bits;
using index::HWY_NAMESPACE::V64;
using index::HWY_NAMESPACE::with_types;

/// Tests the bounds of a few points against the bounds of their candidates.
///
/// Distances of bounds are rounded as distances of points, by the same operations in the same order, and each operation
/// is monotone. The value for the farthest corners is never less than the value that the test computes for two points
/// within the bounds, and the value for the nearest ones never more. So no error bound is needed.
template <std::size_t D>
class BoundsTest {
 public:
  /// points: the positions of the points, at least one. order: in D dimensions, of a plain space; must outlive the
  /// test.
  BoundsTest(const BoundsOrder& order, Range points) : order_(order), limit_(hn::Set(F64(), order.input().limit)) {
    for (std::size_t k = 0; k < D; ++k) {
      if (order.input().precision == Precision::float32) {
        bound<float>(k, points);
      } else {
        bound<double>(k, points);
      }
    }
  }

  /// Calls found(part, within) for each piece of the level that may hold neighbours. part: the positions of the piece
  /// that lie in the range. within: true if the bounds prove that all of these are neighbours of all the points. The
  /// range is not empty.
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

  /// Returns the finest level on which the range has fewer than four whole pieces, else the last level. A search begins
  /// there, and goes to finer levels where neither answer is clear.
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

/// Returns the largest count of a neighbour among the candidates of the range, 0 if there is none. Stops at the first
/// count of at least `enough`, and returns it.
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

/// Calls f.operator()<T, D>() for the one to three dimensions of dense-box cells. Does nothing in other dimensions or
/// in a space that is not plain.
template <class F>
HWY_INLINE void with_dense_box_types(const SearchInput& in, F f) {
  with_types(in, [&]<class T, std::size_t D>() HWY_ATTR {
    if constexpr (D >= 1 && D <= index::kMostDenseBoxDims) f.template operator()<T, D>();
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace epsflow::clustering
HWY_AFTER_NAMESPACE();

#endif
