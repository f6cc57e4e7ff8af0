// The distance test of one row on vectors. Each source that includes it compiles it once per instruction set.
#if defined(EPSFLOW_INDEX_ROW_TEST_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef EPSFLOW_INDEX_ROW_TEST_INL_HPP
#undef EPSFLOW_INDEX_ROW_TEST_INL_HPP
#else
#define EPSFLOW_INDEX_ROW_TEST_INL_HPP
#endif

#include <hwy/highway.h>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <epsflow/index/row_search.hpp>

HWY_BEFORE_NAMESPACE();
namespace epsflow::index {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using F64 = hn::ScalableTag<double>;
using V64 = hn::Vec<F64>;

constexpr std::size_t kLanes64 = hn::MaxLanes(F64());

HWY_INLINE V64 load(const double* p) { return hn::LoadU(F64(), p); }
HWY_INLINE V64 load(const float* p) {
  const hn::Rebind<float, F64> f32;
  return hn::PromoteTo(F64(), hn::LoadU(f32, p));
}

HWY_INLINE std::uint32_t to_bits(hn::Mask<F64> mask) {
  std::uint8_t bytes[8] = {};
  hn::StoreMaskBits(F64(), mask, bytes);
  return bytes[0];
}

/// One row against candidates in D dimensions, or in any number if D is 0.
template <class T, std::size_t D>
class RowTest {
 public:
  HWY_INLINE RowTest(const SearchInput& in, std::uint32_t row) : dims_(in.dims), limit_(hn::Set(F64(), in.limit)) {
    for (std::size_t k = 0; k < D; ++k) {
      candidates_[k] = static_cast<const T*>(in.coordinates[k]);
      point_[k] = hn::Set(F64(), static_cast<double>(candidates_[k][row]));
    }
    coordinates_ = in.coordinates;
    row_ = row;
  }

  /// Tests a point that is not a row. point: [D].
  HWY_INLINE RowTest(const SearchInput& in, const double* point) requires(D > 0)
      : dims_(in.dims), limit_(hn::Set(F64(), in.limit)), coordinates_(in.coordinates), row_(0) {
    for (std::size_t k = 0; k < D; ++k) {
      candidates_[k] = static_cast<const T*>(in.coordinates[k]);
      point_[k] = hn::Set(F64(), point[k]);
    }
  }

  /// Bit i is set if candidate first + i is a neighbour. Tests as many candidates as a vector has lanes.
  HWY_INLINE std::uint32_t bits(std::size_t first) const {
    if constexpr (D > 0) {
      const V64 diff = hn::Sub(point_[0], load(candidates_[0] + first));
      V64 sum = hn::Mul(diff, diff);
      for (std::size_t k = 1; k < D; ++k) {
        const V64 d = hn::Sub(point_[k], load(candidates_[k] + first));
        sum = hn::Add(sum, hn::Mul(d, d));
      }
      return to_bits(hn::Le(sum, limit_));
    } else {
      V64 sum = hn::Zero(F64());
      for (std::size_t k = 0; k < dims_; ++k) {
        const T* c = static_cast<const T*>(coordinates_[k]);
        const V64 d = hn::Sub(hn::Set(F64(), static_cast<double>(c[row_])), load(c + first));
        sum = hn::Add(sum, hn::Mul(d, d));
        // The sum never decreases, so once every lane is over the limit the rest cannot change the answer.
        if (k % 8 == 7 && hn::AllFalse(F64(), hn::Le(sum, limit_))) return 0;
      }
      return to_bits(hn::Le(sum, limit_));
    }
  }

  /// Returns the bits of the candidates [first, end), or of the first 32 of them. May read, but does not use,
  /// coordinates after `end`.
  HWY_INLINE std::uint32_t word(std::uint64_t first, std::uint64_t end) const {
    const std::uint64_t left = end - first;
    std::uint32_t word = 0;
    if (left >= 32) {
      for (std::size_t k = 0; k < 32; k += kLanes64) word |= bits(first + k) << k;
      return word;
    }
    for (std::size_t k = 0; k < left; k += kLanes64) word |= bits(first + k) << k;
    return word & ((1U << left) - 1);
  }

 private:
  std::size_t dims_;
  V64 limit_;
  const T* candidates_[D == 0 ? 1 : D];
  V64 point_[D == 0 ? 1 : D];
  const void* const* coordinates_;
  std::uint32_t row_;
};

/// Replaces D if the space is not plain: its norm is not Euclidean, or an axis is periodic. Such a space may have any
/// number of dimensions.
inline constexpr std::size_t kOtherSpace = ~std::size_t{0};

/// The same test by norm_sum() of distance.hpp.
template <class T>
class RowTest<T, kOtherSpace> {
 public:
  HWY_INLINE RowTest(const SearchInput& in, std::uint32_t row)
      : coordinates_(in.coordinates), dims_(in.dims), row_(row), space_(*in.space), limit_(hn::Set(F64(), in.limit)) {
    for (std::size_t k = 0; k < HWY_MIN(dims_, kKeptDims); ++k) {
      point_[k] = hn::Set(F64(), static_cast<double>(static_cast<const T*>(coordinates_[k])[row]));
      length_[k] = length(k);
    }
  }

  HWY_INLINE std::uint32_t word(std::uint64_t first, std::uint64_t end) const {
    switch (space_.norm) {
      case Norm::euclidean:
        return word_of<Norm::euclidean>(first, end);
      case Norm::manhattan:
        return word_of<Norm::manhattan>(first, end);
      case Norm::chebyshev:
        return word_of<Norm::chebyshev>(first, end);
      default:
        return word_of<Norm::minkowski>(first, end);
    }
  }

 private:
  /// The coordinates of these dimensions stay in registers.
  static constexpr std::size_t kKeptDims = 3;

  /// Compiled once for all loops that call it: if inlined, it would be a third of their code.
  template <Norm N>
  [[nodiscard]] HWY_NOINLINE std::uint32_t word_of(std::uint64_t first, std::uint64_t end) const {
    const std::uint64_t count = HWY_MIN(end - first, std::uint64_t{32});
    std::uint32_t word = 0;
    for (std::size_t k = 0; k < count; k += kLanes64) word |= bits<N>(first + k) << k;
    return count == 32 ? word : word & ((1U << count) - 1);
  }

  template <Norm N>
  [[nodiscard]] HWY_INLINE std::uint32_t bits(std::size_t first) const {
    V64 sum = hn::Zero(F64());
    for (std::size_t k = 0; k < HWY_MIN(dims_, kKeptDims); ++k) sum = add<N>(sum, first, k, point_[k], length_[k]);
    for (std::size_t k = kKeptDims; k < dims_; ++k) {
      const auto own = static_cast<double>(static_cast<const T*>(coordinates_[k])[row_]);
      sum = add<N>(sum, first, k, hn::Set(F64(), own), length(k));
    }
    return to_bits(hn::Le(sum, limit_));
  }

  template <Norm N>
  [[nodiscard]] HWY_INLINE V64 add(V64 sum, std::size_t first, std::size_t k, V64 own, V64 length) const {
    V64 t = hn::Abs(hn::Sub(own, load(static_cast<const T*>(coordinates_[k]) + first)));
    t = hn::Min(t, hn::Sub(length, t));
    if constexpr (N == Norm::euclidean) return hn::Add(sum, hn::Mul(t, t));
    if constexpr (N == Norm::manhattan) return hn::Add(sum, t);
    if constexpr (N == Norm::chebyshev) return hn::Max(sum, t);
    if constexpr (N == Norm::minkowski) return hn::Add(sum, power(t));
  }

  /// Returns the length of an axis; infinite for an open one, which has no periodic distance.
  [[nodiscard]] HWY_INLINE V64 length(std::size_t k) const {
    const double period = space_.period(k);
    return hn::Set(F64(), period > 0 ? period : std::numeric_limits<double>::infinity());
  }

  /// Uses the scalar function, as no vector function rounds alike on every machine.
  [[nodiscard]] HWY_INLINE V64 power(V64 t) const {
    double lanes[kLanes64];
    hn::StoreU(t, F64(), lanes);
    for (double& lane : lanes) lane = std::pow(lane, space_.power);
    return hn::LoadU(F64(), lanes);
  }

  const void* const* coordinates_;
  std::size_t dims_;
  std::uint32_t row_;
  const Space& space_;
  V64 limit_;
  V64 point_[kKeptDims];
  V64 length_[kKeptDims];
};

/// Calls f.template operator()<T, D>(). T: the type of coordinates. D: the number of dimensions, 0 if there are more
/// than six, or kOtherSpace if the space is not plain.
template <class F>
HWY_INLINE void with_types(const SearchInput& in, F f) {
  const auto with_dims = [&]<class T>(T) HWY_ATTR {
    if (in.space != nullptr) return f.template operator()<T, kOtherSpace>();
    switch (in.dims) {
      case 1:
        return f.template operator()<T, 1>();
      case 2:
        return f.template operator()<T, 2>();
      case 3:
        return f.template operator()<T, 3>();
      case 4:
        return f.template operator()<T, 4>();
      case 5:
        return f.template operator()<T, 5>();
      case 6:
        return f.template operator()<T, 6>();
      default:
        return f.template operator()<T, 0>();
    }
  };
  if (in.precision == Precision::float32) return with_dims(float{});
  with_dims(double{});
}

}  // namespace HWY_NAMESPACE
}  // namespace epsflow::index
HWY_AFTER_NAMESPACE();

#endif
