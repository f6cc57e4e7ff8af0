// Sums of a norm on vectors, and bounds of them for boxes. Each source that includes it compiles it once per
// instruction set.
//
// A bound is at most any sum that it stands for. The sum of a pair is computed from differences, rounded once, by
// operations that are monotone, rounding included. The bound of a box is computed by the same operations in the same
// order, from differences to the nearest point of the box, which are no larger than the differences to any point in it.
// So the bound, as computed, is at most the sum, as computed. On a closed axis the bound takes the smaller of two
// differences: to the nearest point, and the way round, which is the length minus the difference to the farthest point.
// Both are monotone. std::pow is not known to be monotone; its error is an ulp, and a bound made of powers is lowered
// by more than that.
#if defined(EPSFLOW_INDEX_NORM_SUMS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef EPSFLOW_INDEX_NORM_SUMS_INL_HPP
#undef EPSFLOW_INDEX_NORM_SUMS_INL_HPP
#else
#define EPSFLOW_INDEX_NORM_SUMS_INL_HPP
#endif

#include <hwy/highway.h>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <epsflow/core/space.hpp>
#include <epsflow/index/leaf_order.hpp>
#include <epsflow/index/row_test-inl.hpp>

HWY_BEFORE_NAMESPACE();
namespace epsflow::index {
namespace HWY_NAMESPACE {

constexpr std::size_t kLanes = kLanes64;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Sums of the Euclidean norm without closed axes, in D dimensions, or in any number if D is 0.
template <std::size_t D>
class PlainSums {
 public:
  explicit PlainSums(const Space&, std::size_t dims) : dims_(dims) {}
  [[nodiscard]] HWY_INLINE std::size_t dims() const { return D > 0 ? D : dims_; }

  /// Adds the term of dimension k, of which the difference of two coordinates is given.
  HWY_INLINE V64 add(V64 sum, std::size_t, V64 difference) const { return add_gap(sum, difference); }
  /// Adds the term of a result of gap().
  HWY_INLINE V64 add_gap(V64 sum, V64 gap) const { return hn::Add(sum, hn::Mul(gap, gap)); }
  /// Returns the least difference, in dimension k, between points of two intervals: [lo, hi] and [other_lo, other_hi].
  HWY_INLINE V64 gap(std::size_t, V64 lo, V64 hi, V64 other_lo, V64 other_hi) const {
    return hn::Max(hn::Max(hn::Sub(lo, other_hi), hn::Sub(other_lo, hi)), hn::Zero(F64()));
  }
  /// Returns the lower bound for a box, from the sum of the terms of all gaps.
  HWY_INLINE V64 bound(V64 sum) const { return sum; }

 private:
  std::size_t dims_;
};

/// Sums of norm N, with the functions of PlainSums; axes may be closed.
template <Norm N>
class OtherSums {
 public:
  OtherSums(const Space& space, std::size_t dims) : space_(space), dims_(dims) {}
  [[nodiscard]] HWY_INLINE std::size_t dims() const { return dims_; }

  HWY_INLINE V64 add(V64 sum, std::size_t k, V64 difference) const {
    V64 t = hn::Abs(difference);
    if (const double length = space_.period(k); length > 0) t = hn::Min(t, hn::Sub(hn::Set(F64(), length), t));
    return add_gap(sum, t);
  }
  HWY_INLINE V64 add_gap(V64 sum, V64 t) const {
    if constexpr (N == Norm::euclidean) return hn::Add(sum, hn::Mul(t, t));
    if constexpr (N == Norm::manhattan) return hn::Add(sum, t);
    if constexpr (N == Norm::chebyshev) return hn::Max(sum, t);
    if constexpr (N == Norm::minkowski) {
      double lanes[kLanes];
      hn::StoreU(t, F64(), lanes);
      for (double& lane : lanes) lane = std::pow(lane, space_.power);
      return hn::Add(sum, hn::LoadU(F64(), lanes));
    }
  }
  HWY_INLINE V64 gap(std::size_t k, V64 lo, V64 hi, V64 other_lo, V64 other_hi) const {
    const V64 straight = hn::Max(hn::Max(hn::Sub(lo, other_hi), hn::Sub(other_lo, hi)), hn::Zero(F64()));
    const double length = space_.period(k);
    if (length <= 0) return straight;
    const V64 farthest = hn::Max(hn::Sub(hi, other_lo), hn::Sub(other_hi, lo));
    return hn::Min(straight, hn::Max(hn::Sub(hn::Set(F64(), length), farthest), hn::Zero(F64())));
  }
  HWY_INLINE V64 bound(V64 sum) const {
    if constexpr (N != Norm::minkowski) return sum;
    const V64 lower = hn::Mul(sum, hn::Set(F64(), 1 - 0x1p-38));  // terms err by an ulp, the sum of 4096 by 2^-41
    return hn::IfThenElseZero(hn::Gt(lower, hn::Set(F64(), 0x1p-1000)), lower);  // smaller ones have larger errors
  }

 private:
  const Space& space_;
  std::size_t dims_;
};

/// Sets `box` to the box of a leaf: both ends, dimension after dimension. [2 · d]
inline void copy_box(const LeafOrder& leaves, std::uint32_t leaf, std::vector<double>& box) {
  const double* const boxes = leaves.boxes(0, leaf / LeafOrder::kBranch) + leaf % LeafOrder::kBranch;
  for (std::size_t end = 0; end < box.size(); ++end) box[end] = boxes[end * LeafOrder::kBranch];
}

/// Returns lower bounds of the sums between points in a box of copy_box() and points in kLanes boxes, from `boxes` on,
/// as LeafOrder::boxes() has them.
template <class Sums>
HWY_INLINE V64 box_bounds(const Sums& sums, const double* box, const double* boxes) {
  V64 sum = hn::Zero(F64());
  for (std::size_t k = 0; k < sums.dims(); ++k) {
    const double* const ends = boxes + k * 2 * LeafOrder::kBranch;
    sum = sums.add_gap(sum, sums.gap(k, hn::Set(F64(), box[2 * k]), hn::Set(F64(), box[2 * k + 1]),
                                     hn::LoadU(F64(), ends), hn::LoadU(F64(), ends + LeafOrder::kBranch)));
  }
  return sums.bound(sum);
}

/// Calls f with a PlainSums or OtherSums object for a space and points of `dims` dimensions.
template <class F>
void with_norm_sums(const Space& space, std::size_t dims, F&& f) {
  if (space.plain()) {
    switch (dims) {
      case 1:
        return f(PlainSums<1>(space, dims));
      case 2:
        return f(PlainSums<2>(space, dims));
      case 3:
        return f(PlainSums<3>(space, dims));
      case 4:
        return f(PlainSums<4>(space, dims));
      default:
        return f(PlainSums<0>(space, dims));
    }
  }
  switch (space.norm) {
    case Norm::euclidean:
      return f(OtherSums<Norm::euclidean>(space, dims));
    case Norm::manhattan:
      return f(OtherSums<Norm::manhattan>(space, dims));
    case Norm::chebyshev:
      return f(OtherSums<Norm::chebyshev>(space, dims));
    case Norm::minkowski:
      return f(OtherSums<Norm::minkowski>(space, dims));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace epsflow::index
HWY_AFTER_NAMESPACE();

#endif
