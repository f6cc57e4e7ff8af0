// A fast test before the exact sum: whether a candidate may be nearer than a limit, by float32 coordinates relative to
// an origin close to the points. The functions compile for host and kernels, so that tests need no GPU.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include <epsflow/core/host_device.hpp>
#include <epsflow/index/distance.hpp>

// Unrolls loops of kernels over arrays in registers.
#ifdef __CUDA_ARCH__
#define EPSFLOW_UNROLL _Pragma("unroll")
#else
#define EPSFLOW_UNROLL
#endif

namespace epsflow::gpu {

/// The largest number of dimensions.
inline constexpr unsigned kMostNearestDims = 3;

/// Coordinates of a group of points relative to its centre, in units of about its size, rounded to float32. Let x' = (x
/// − centre) · scale in real numbers; scale is a power of two, and the largest half extent of the group is at most 2 /
/// scale. Then |p'| <= 4 for the points p of the group. With the exact centre, |p'| would be at most 2. Rounding moves
/// the centre by at most the half extent, because the ends of the box are float64 numbers, too.
///
/// The filter. Let s be the sum (core/space.hpp) of p and a candidate q, as float64 computes it, and f = near_sum() of
/// their rounded coordinates. Let s < limit, and r = √limit · scale. Each difference is at most r (1 + 2^-50) in real
/// numbers, so |q'| <= 4 + r about. Rounding moves p' and q' by at most 2^-24 (1 + 2^-20) of each, which is 2^-24 (8 +
/// r) together, and their difference is rounded by 2^-24 of itself. So differences of rounded coordinates are at most
/// |p' − q'| + e with e just over 2^-21 + 2^-23 r. In up to three dimensions √f is at most r + 2e, before the roundings
/// of f itself, which add less than 2^-20 of it. That is less than reach(r) = r (1 + 2^-18) + 2^-18, with slack for the
/// float32 roundings of r and of reach(). So f <= reach(r)², and a candidate that passes_filter() refuses is not below
/// the limit. The same errors in reverse give s · scale² < reach(√f)², even if q' is far: then |q'| <= 4 + √f (1 +
/// 2^-20). Underflow of float32 changes coordinates by at most 2^-149, far below the 2^-18. Underflow of float64
/// changes s by less than kLost, which is added to limits.
///
/// If float32 overflows, f is infinite: then q is beyond any limit with a finite filter_limit(), and an infinite one
/// refuses nothing.
template <unsigned D>
struct NearFrame {
  static_assert(D <= kMostNearestDims);
  /// More than products and sums of float64 lose by underflow. It changes no limit of a usual size.
  static constexpr double kLost = 0x1p-1022;

  double centre[D];
  double scale;

  /// lo, hi: the box of the group. otherwise: the scale if the largest half extent is not between 2^-900 and 2^900, for
  /// example 0. It is a power of two that scales differences of all points to finite float64 numbers, and the half
  /// extent to at most 2, such as LeafView::scale.
  [[nodiscard]] static EPSFLOW_HOST_DEVICE NearFrame of_box(const double* lo, const double* hi,
                                                            double otherwise) noexcept {
    NearFrame frame;
    double half = 0;
    for (unsigned k = 0; k < D; ++k) {
      frame.centre[k] = lo[k] / 2 + hi[k] / 2;
      const double extent = hi[k] / 2 - lo[k] / 2;
      half = extent > half ? extent : half;
    }
    frame.scale = half > 0x1p-900 && half < 0x1p900 ? power_above_inverse(half) : otherwise;
    return frame;
  }

  /// Returns coordinate k in the frame: relative to the centre, scaled and rounded.
  [[nodiscard]] EPSFLOW_HOST_DEVICE float near(unsigned k, double coordinate) const noexcept {
    return static_cast<float>((coordinate - centre[k]) * scale);
  }

  /// Returns an upper bound on near_sum() of candidates whose sum is below the limit. limit: a squared distance, not
  /// scaled. Infinite for an infinite limit, and if float32 overflows.
  [[nodiscard]] EPSFLOW_HOST_DEVICE float filter_limit(double limit) const noexcept {
    const float far = reach(std::sqrt(static_cast<float>((limit + kLost) * scale * scale)));
    return far * far;
  }
  /// Returns a limit for a pair with this near_sum(): its sum, a squared distance that is not scaled, is below the
  /// limit.
  [[nodiscard]] EPSFLOW_HOST_DEVICE double limit_above(float near_sum) const noexcept {
    const double far = reach(std::sqrt(near_sum)) / scale;
    return far * far + kLost;
  }

 private:
  [[nodiscard]] static EPSFLOW_HOST_DEVICE float reach(float r) noexcept { return r * (1 + 0x1p-18F) + 0x1p-18F; }

  /// Returns the power of two whose product with x is in [1, 2). x: a positive normal number.
  [[nodiscard]] static EPSFLOW_HOST_DEVICE double power_above_inverse(double x) noexcept {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &x, sizeof bits);
    bits = (2046 - (bits >> 52)) << 52;
    std::memcpy(&x, &bits, sizeof x);
    return x;
  }
};

/// Returns a² + sum, rounded once.
[[nodiscard]] EPSFLOW_HOST_DEVICE inline float add_square(float a, float sum) noexcept {
#ifdef __CUDA_ARCH__
  return __fmaf_rn(a, a, sum);
#else
  return std::fma(a, a, sum);
#endif
}

/// Returns the sum of the squares of the differences of rounded coordinates. point(k), candidate(k): coordinate k in
/// the frame. Each difference is rounded once, and so is each sum with a square; the relative error is at most about 5
/// · 2^-24.
template <unsigned D, class Point, class Candidate>
[[nodiscard]] EPSFLOW_HOST_DEVICE float near_sum(Point point, Candidate candidate) noexcept {
  float sum = 0;
  for (unsigned k = 0; k < D; ++k) sum = add_square(point(k) - candidate(k), sum);
  return sum;
}

/// Returns true if the sum of a candidate may be below the limit. True for NaN.
[[nodiscard]] EPSFLOW_HOST_DEVICE inline bool passes_filter(float near_sum, float filter_limit) noexcept {
  return !(near_sum > filter_limit);
}

/// Returns a lower bound on the sum of any two points of two boxes, as float64 computes both: rounded differences and
/// sums are monotone (index/nearest.cpp). lo, hi: ends of one box; other_lo(k), other_hi(k): of the other.
template <unsigned D, class Lo, class Hi>
[[nodiscard]] EPSFLOW_HOST_DEVICE double box_sum(const double* lo, const double* hi, Lo other_lo,
                                                 Hi other_hi) noexcept {
  double sum = 0;
  for (unsigned k = 0; k < D; ++k) {
    const double below = index::rounded_difference(lo[k], other_hi(k));
    const double above = index::rounded_difference(other_lo(k), hi[k]);
    const double larger = below > above ? below : above;
    const double gap = larger > 0 ? larger : 0;
    sum = index::rounded_sum(sum, index::rounded_product(gap, gap));
  }
  return sum;
}

/// Keeps the k smallest of the values that are added, ascending. k: from 1 to K. Values must be at least 0, because −1
/// fills the first K − k elements. last() is the k-th smallest value that was added; it is `largest` until k values
/// below `largest` are added.
template <class T, unsigned K>
class Smallest {
 public:
  EPSFLOW_HOST_DEVICE Smallest(unsigned k, T largest) noexcept {
    EPSFLOW_UNROLL
    for (unsigned i = 0; i < K; ++i) values_[i] = i < K - k ? T{-1} : largest;
  }

  [[nodiscard]] EPSFLOW_HOST_DEVICE T last() const noexcept { return values_[K - 1]; }
  /// Calls f(j, value) for the j-th smallest, j from 1 to k. k: as in the constructor. (An index would move the values
  /// out of registers.)
  template <class F>
  EPSFLOW_HOST_DEVICE void for_each(unsigned k, F f) const noexcept {
    EPSFLOW_UNROLL
    for (unsigned i = 0; i < K; ++i) {
      if (i + k >= K) f(i + k - K + 1, values_[i]);
    }
  }
  EPSFLOW_HOST_DEVICE void add(T value) noexcept {
    EPSFLOW_UNROLL
    for (unsigned i = 0; i < K; ++i) {
      const T before = values_[i];
      if constexpr (sizeof(T) == sizeof(float)) {  // one instruction each
        values_[i] = std::fmin(before, value);
        value = std::fmax(before, value);
      } else {
        const bool smaller = value < before;
        values_[i] = smaller ? value : before;
        value = smaller ? before : value;
      }
    }
  }

 private:
  T values_[K];
};

/// Keeps values as Smallest does, and the id that came with each. The id of an unused element is 0. kById: equal
/// values are in the order of their ids; otherwise their order, and which of them drop out, is not specified.
template <unsigned K, bool kById>
class SmallestWithIds {
 public:
  static constexpr bool kInOrder = kById;

  EPSFLOW_HOST_DEVICE SmallestWithIds(unsigned k, double largest) noexcept {
    EPSFLOW_UNROLL
    for (unsigned i = 0; i < K; ++i) {
      values_[i] = i < K - k ? -1 : largest;
      ids_[i] = 0;
    }
  }

  [[nodiscard]] EPSFLOW_HOST_DEVICE double last() const noexcept { return values_[K - 1]; }
  /// Returns true if add() keeps this value.
  [[nodiscard]] EPSFLOW_HOST_DEVICE bool takes(double value, std::uint32_t id) const noexcept {
    return is_before(value, id, values_[K - 1], ids_[K - 1]);
  }
  /// Calls f(j, id) for the j-th smallest, j from 1 to k. k: as in the constructor.
  template <class F>
  EPSFLOW_HOST_DEVICE void for_each(unsigned k, F f) const noexcept {
    EPSFLOW_UNROLL
    for (unsigned i = 0; i < K; ++i) {
      if (i + k >= K) f(i + k - K + 1, ids_[i]);
    }
  }
  EPSFLOW_HOST_DEVICE void add(double value, std::uint32_t id) noexcept {
    EPSFLOW_UNROLL
    for (unsigned i = 0; i < K; ++i) {
      const double before = values_[i];
      const std::uint32_t before_id = ids_[i];
      const bool smaller = is_before(value, id, before, before_id);
      values_[i] = smaller ? value : before;
      ids_[i] = smaller ? id : before_id;
      value = smaller ? before : value;
      id = smaller ? before_id : id;
    }
  }
  [[nodiscard]] EPSFLOW_HOST_DEVICE static bool is_before(double a, std::uint32_t a_id, double b,
                                                          std::uint32_t b_id) noexcept {
    return a < b || (kById && a == b && a_id < b_id);
  }

 private:
  double values_[K];
  std::uint32_t ids_[K];
};

}  // namespace epsflow::gpu
