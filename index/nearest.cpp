#include <epsflow/index/nearest.hpp>

#include <epsflow/index/instruction_sets.hpp>
// must come before any header of Highway
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "epsflow/index/nearest.cpp"  // NOLINT: highway compiles this file once per instruction set
#include <hwy/foreach_target.h>
// foreach_target.h must come first
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include <epsflow/core/parallel.hpp>
#include <epsflow/index/leaf_order.hpp>
#include <epsflow/index/row_test-inl.hpp>

// Search of a leaf. Its points are side by side in vectors, and candidates come one at a time. The k smallest sums of
// each point so far are k vectors, and a new sum is inserted by minima and maxima, without a branch. Boxes are visited
// from the leaf's own neighbourhood outwards, up the levels, so that the k-th sum is soon close to its final value.
//
// Proof that no box with one of the k nearest points is skipped. The sum of a pair is computed from differences,
// rounded once, by operations that are monotone, rounding included. The bound of a box is computed by the same
// operations in the same order, from differences to the nearest place of the box, which are no larger than the
// differences to any point in it. So the bound, as computed, is at most the sum, as computed. A box is skipped only if
// its bound is at least the k-th sum so far, which no point in it can then decrease. If an axis is closed, the periodic
// difference is the length minus the difference to the farthest place, which is monotone as well. std::pow is not known
// to be monotone; its error is an ulp, and a bound made of powers is lowered by more than that.

HWY_BEFORE_NAMESPACE();
namespace epsflow::index {
#ifndef EPSFLOW_INDEX_NEAREST_SHARED
#define EPSFLOW_INDEX_NEAREST_SHARED
struct NearestInput {
  const LeafOrder& leaves;
  const Space& space;
  std::span<const std::uint32_t> ks;
  std::uint32_t most;  ///< the largest of ks
  double* sums;
};
#endif

namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
constexpr std::size_t kLanes = hn::MaxLanes(F64());
constexpr std::size_t kLeaf = LeafOrder::kLeaf;
constexpr std::size_t kBranch = LeafOrder::kBranch;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
static_assert(kLeaf % kLanes == 0 && kBranch % kLanes == 0, "leaves and groups of boxes are whole vectors");

/// Sums of the Euclidean norm without closed axes, in D dimensions, or in any number if D is 0.
template <std::size_t D>
class PlainSums {
 public:
  explicit PlainSums(const Space&, std::size_t dims) : dims_(dims) {}
  [[nodiscard]] HWY_INLINE std::size_t dims() const { return D > 0 ? D : dims_; }

  HWY_INLINE V64 add(V64 sum, std::size_t, V64 difference) const { return add_gap(sum, difference); }
  HWY_INLINE V64 add_gap(V64 sum, V64 gap) const { return hn::Add(sum, hn::Mul(gap, gap)); }
  /// Returns the least difference between places of two intervals: [lo, hi] and [other_lo, other_hi], all vectors.
  HWY_INLINE V64 gap(std::size_t, V64 lo, V64 hi, V64 other_lo, V64 other_hi) const {
    return hn::Max(hn::Max(hn::Sub(lo, other_hi), hn::Sub(other_lo, hi)), hn::Zero(F64()));
  }
  HWY_INLINE V64 bound(V64 sum) const { return sum; }

 private:
  std::size_t dims_;
};

/// Sums of norm N; axes may be closed.
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

/// The K smallest sums of each point of a leaf, in order.
template <std::size_t K>
class FewSmallest {
 public:
  explicit FewSmallest(std::uint32_t k) : k_(k) {}

  void clear() { std::fill_n(&best_[0][0], K * kLeaf, kInfinity); }
  /// Returns the k-th smallest sum of each point. [kLeaf]
  [[nodiscard]] HWY_INLINE const double* limits() const { return best_[k_ - 1]; }
  [[nodiscard]] double at(std::uint32_t k, std::size_t place) const { return best_[k - 1][place]; }
  void finish() {}

  /// Calls sum_of(candidate, limit) for each of `count` candidates and keeps the smaller sums, for the points of vector
  /// v. If no lane of a sum can be less than the limit, sum_of() may return any value that is not less.
  template <class F>
  HWY_INLINE void take(std::size_t v, std::uint32_t count, F sum_of) {
    V64 best[K];
    for (std::size_t i = 0; i < K; ++i) best[i] = hn::LoadU(F64(), best_[i] + v * kLanes);
    for (std::uint32_t c = 0; c < count; ++c) {
      V64 sum = sum_of(c, best[K - 1]);
      if constexpr (K > 4) {
        if (hn::AllFalse(F64(), hn::Lt(sum, best[K - 1]))) continue;
      }
      for (std::size_t i = 0; i < K; ++i) {
        const V64 smaller = hn::Min(best[i], sum);
        sum = hn::Max(best[i], sum);
        best[i] = smaller;
      }
    }
    for (std::size_t i = 0; i < K; ++i) hn::StoreU(best[i], F64(), best_[i] + v * kLanes);
  }

 private:
  std::uint32_t k_;
  double best_[K][kLeaf];
};

/// Does the same for any k, with a heap for each point.
class ManySmallest {
 public:
  explicit ManySmallest(std::uint32_t k) : k_(k), heaps_(std::size_t{k} * kLeaf) {}

  void clear() {
    std::fill(heaps_.begin(), heaps_.end(), kInfinity);
    std::fill_n(limits_, kLeaf, kInfinity);
  }
  [[nodiscard]] HWY_INLINE const double* limits() const { return limits_; }
  [[nodiscard]] double at(std::uint32_t k, std::size_t place) const { return heaps_[place * k_ + k - 1]; }
  /// Sorts the sums; take() must not be called afterwards.
  void finish() {
    for (std::size_t place = 0; place < kLeaf; ++place) std::sort_heap(heap(place), heap(place) + k_);
  }

  template <class F>
  HWY_INLINE void take(std::size_t v, std::uint32_t count, F sum_of) {
    for (std::uint32_t c = 0; c < count; ++c) {
      const V64 limit = hn::LoadU(F64(), limits_ + v * kLanes);
      const V64 sum = sum_of(c, limit);
      if (hn::AllFalse(F64(), hn::Lt(sum, limit))) continue;
      double lanes[kLanes];
      hn::StoreU(sum, F64(), lanes);
      for (std::size_t lane = 0; lane < kLanes; ++lane) replace_largest(v * kLanes + lane, lanes[lane]);
    }
  }

 private:
  [[nodiscard]] double* heap(std::size_t place) { return heaps_.data() + place * k_; }
  void replace_largest(std::size_t place, double sum) {
    if (!(sum < limits_[place])) return;
    double* const first = heap(place);
    std::pop_heap(first, first + k_);
    first[k_ - 1] = sum;
    std::push_heap(first, first + k_);
    limits_[place] = first[0];
  }

  std::uint32_t k_;
  std::vector<double> heaps_;
  double limits_[kLeaf];
};

template <class Sums, class Smallest>
class LeafSearch {
 public:
  explicit LeafSearch(const NearestInput& input)
      : leaves_(input.leaves),
        sums_(input.space, input.leaves.dims()),
        smallest_(input.most),
        box_(2 * leaves_.dims()) {}

  HWY_INLINE const Smallest& search(std::uint32_t leaf) {
    leaf_ = leaf;
    own_ = leaves_.leaf(leaf);
    const double* const boxes = leaves_.boxes(0, leaf / LeafOrder::kBranch) + leaf % LeafOrder::kBranch;
    for (std::size_t end = 0; end < box_.size(); ++end) box_[end] = boxes[end * kBranch];
    smallest_.clear();
    for (std::size_t v = 0; v < kLeaf / kLanes; ++v) scan<true>(v, own_, leaves_.filled(leaf));
    find_limit();
    std::uint32_t child = leaf;
    for (std::size_t level = 0; level < leaves_.levels() && limit_ > 0; ++level, child /= LeafOrder::kBranch) {
      visit(level, child / LeafOrder::kBranch, child);
    }
    smallest_.finish();
    return smallest_;
  }

 private:
  /// Visits the boxes of a group, except one of them.
  void visit(std::size_t level, std::uint32_t group, std::uint32_t except) {
    double bounds[kBranch];
    const double* const boxes = leaves_.boxes(level, group);
    for (std::size_t b = 0; b < kBranch; b += kLanes) {
      V64 sum = hn::Zero(F64());
      for (std::size_t k = 0; k < sums_.dims(); ++k) {
        const double* const ends = boxes + k * 2 * kBranch + b;
        sum = sums_.add_gap(sum, sums_.gap(k, hn::Set(F64(), box_[2 * k]), hn::Set(F64(), box_[2 * k + 1]),
                                           hn::LoadU(F64(), ends), hn::LoadU(F64(), ends + kBranch)));
      }
      hn::StoreU(sums_.bound(sum), F64(), bounds + b);
    }
    for (std::uint32_t b = 0; b < kBranch; ++b) {
      const std::uint32_t child = group * LeafOrder::kBranch + b;
      if (!(bounds[b] < limit_) || child == except) continue;
      if (level > 0) {
        visit(level - 1, child, ~0U);
      } else {
        scan_leaf(child, boxes + b);
      }
    }
  }

  HWY_INLINE void scan_leaf(std::uint32_t leaf, const double* box) {
    for (std::size_t v = 0; v < kLeaf / kLanes; ++v) {
      V64 sum = hn::Zero(F64());
      for (std::size_t k = 0; k < sums_.dims(); ++k) {
        const V64 own = hn::LoadU(F64(), own_ + k * kLeaf + v * kLanes);
        sum = sums_.add_gap(sum, sums_.gap(k, own, own, hn::Set(F64(), box[k * 2 * kBranch]),
                                           hn::Set(F64(), box[(k * 2 + 1) * kBranch])));
      }
      const V64 limit = hn::LoadU(F64(), smallest_.limits() + v * kLanes);
      if (hn::AllFalse(F64(), hn::Lt(sums_.bound(sum), limit))) continue;
      scan<false>(v, leaves_.leaf(leaf), leaves_.filled(leaf));
    }
    find_limit();
  }

  /// Offers `count` candidates to the points of vector v. Own: they are the leaf's own points; a point skips itself.
  template <bool Own>
  HWY_INLINE void scan(std::size_t v, const double* candidates, std::uint32_t count) {
    const double* const own = own_ + v * kLanes;
    const V64 places = hn::Iota(F64(), static_cast<double>(v * kLanes));
    smallest_.take(v, count, [&](std::uint32_t c, V64 limit) HWY_ATTR {
      V64 sum = hn::Zero(F64());
      for (std::size_t k = 0; k < sums_.dims(); ++k) {
        sum = sums_.add(sum, k, hn::Sub(hn::LoadU(F64(), own + k * kLeaf), hn::Set(F64(), candidates[k * kLeaf + c])));
        // Sums never decrease.
        if (k % 8 == 7 && hn::AllFalse(F64(), hn::Lt(sum, limit))) break;
      }
      if constexpr (Own) {
        const V64 self = hn::Set(F64(), static_cast<double>(c));
        sum = hn::IfThenElse(hn::Eq(places, self), hn::Set(F64(), kInfinity), sum);
      }
      return sum;
    });
  }

  HWY_INLINE void find_limit() {
    const double* const limits = smallest_.limits();
    V64 largest = hn::LoadU(F64(), limits);
    for (std::size_t i = kLanes; i < kLeaf; i += kLanes) largest = hn::Max(largest, hn::LoadU(F64(), limits + i));
    limit_ = hn::GetLane(hn::MaxOfLanes(F64(), largest));
  }

  const LeafOrder& leaves_;
  Sums sums_;
  Smallest smallest_;
  std::vector<double> box_;  ///< box of the leaf: both ends, dimension after dimension
  std::uint32_t leaf_ = 0;
  const double* own_ = nullptr;
  double limit_ = 0;  ///< the largest k-th sum of the leaf's points
};

template <class Sums, class Smallest>
void search_with(const NearestInput& in, std::uint32_t first, std::uint32_t last) {
  LeafSearch<Sums, Smallest> search(in);
  for (std::uint32_t leaf = first; leaf < last; ++leaf) {
    const Smallest& found = search.search(leaf);
    const std::uint32_t* const ids = in.leaves.order().data() + std::size_t{leaf} * kLeaf;
    for (std::uint32_t place = 0; place < in.leaves.filled(leaf); ++place) {
      for (std::size_t j = 0; j < in.ks.size(); ++j) {
        in.sums[ids[place] * in.ks.size() + j] = found.at(in.ks[j], place);
      }
    }
  }
}

template <class Sums>
void search_by(const NearestInput& in, std::uint32_t first, std::uint32_t last) {
  if (in.most <= 4) return search_with<Sums, FewSmallest<4>>(in, first, last);
  if (in.most <= 8) return search_with<Sums, FewSmallest<8>>(in, first, last);
  if (in.most <= 16) return search_with<Sums, FewSmallest<16>>(in, first, last);
  search_with<Sums, ManySmallest>(in, first, last);
}

void search_leaves(const NearestInput& in, std::uint32_t first, std::uint32_t last) {
  if (in.space.plain()) {
    switch (in.leaves.dims()) {
      case 1:
        return search_by<PlainSums<1>>(in, first, last);
      case 2:
        return search_by<PlainSums<2>>(in, first, last);
      case 3:
        return search_by<PlainSums<3>>(in, first, last);
      case 4:
        return search_by<PlainSums<4>>(in, first, last);
      default:
        return search_by<PlainSums<0>>(in, first, last);
    }
  }
  switch (in.space.norm) {
    case Norm::euclidean:
      return search_by<OtherSums<Norm::euclidean>>(in, first, last);
    case Norm::manhattan:
      return search_by<OtherSums<Norm::manhattan>>(in, first, last);
    case Norm::chebyshev:
      return search_by<OtherSums<Norm::chebyshev>>(in, first, last);
    case Norm::minkowski:
      return search_by<OtherSums<Norm::minkowski>>(in, first, last);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace epsflow::index
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace epsflow::index {

HWY_EXPORT(search_leaves);

void nearest_sums(PointsView points, const Space& space, std::span<const std::uint32_t> ks, double* sums,
                  const CancelToken& cancel) {
  constexpr std::uint32_t kGrain = 64;
  if (points.size() == 0 || ks.empty()) return;
  const LeafOrder leaves(points, cancel);
  const NearestInput input{leaves, space, ks, *std::max_element(ks.begin(), ks.end()), sums};
  parallel_ranges(leaves.leaves(), kGrain, [&](std::size_t begin, std::size_t end) {
    cancel.check();
    HWY_DYNAMIC_DISPATCH(search_leaves)(input, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end));
  });
}

std::uint64_t nearest_bytes(std::uint64_t n, std::size_t dims) noexcept { return LeafOrder::most_bytes(n, dims); }

}  // namespace epsflow::index
#endif
