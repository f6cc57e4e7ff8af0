#include <epsflow/index/nearest.hpp>

#include <epsflow/index/instruction_sets.hpp>
// Must come before any header of Highway.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "epsflow/index/nearest.cpp"  // NOLINT: highway compiles this file once per instruction set
#include <hwy/foreach_target.h>
// foreach_target.h must come first
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <tuple>
#include <type_traits>
#include <vector>

#include <epsflow/core/checked.hpp>
#include <epsflow/core/parallel.hpp>
#include <epsflow/index/leaf_order.hpp>
#include <epsflow/index/norm_sums-inl.hpp>

// Each leaf is searched for as a whole. Its points are side by side in vectors, and candidates come one at a time. The
// k smallest sums of each point so far are k vectors, and a new sum is inserted by minima and maxima.
// Boxes are visited from the leaf's own neighbourhood outwards, up the levels, so that the k-th sum is soon close to
// its final value.
//
// No box with one of the k nearest points is skipped: its bound is at least the k-th sum so far, and at most the sum of
// any point in it (norm_sums-inl.hpp), which can then not decrease the k-th sum.

HWY_BEFORE_NAMESPACE();
namespace epsflow::index {
#ifndef EPSFLOW_INDEX_NEAREST_SHARED
#define EPSFLOW_INDEX_NEAREST_SHARED
struct NearestInput {
  const LeafOrder& leaves;
  const LeafOrder& queries;  ///< the points that search: `leaves` itself, or others
  const Space& space;
  const CancelToken& cancel;
  std::span<const std::uint32_t> ks = {};
  std::uint32_t most = 0;                    ///< the largest of ks, or the length of lists
  double* sums = nullptr;                    ///< by input id of `queries`
  std::uint32_t* lists = nullptr;            ///< by position in `queries`
  std::span<const double> core = {};         ///< by input id of `leaves`
  MutualNeighbor* neighbors = nullptr;       ///< by input id of `queries`; each has its own core sum as height
  std::span<const std::int64_t> units = {};  ///< weights by position; then `sums` is by position, too
  WeightSum enough = 0;
};
#endif

namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
constexpr std::size_t kLeaf = LeafOrder::kLeaf;
constexpr std::size_t kBranch = LeafOrder::kBranch;
static_assert(kLeaf % kLanes == 0 && kBranch % kLanes == 0, "leaves and groups of boxes are whole vectors");

/// The K smallest sums of each point of a leaf, in order. Named: also the positions of the points with these sums.
/// Here and below, `query` is the index of a point in its leaf.
template <std::size_t K, bool Named>
class FewSmallest {
 public:
  explicit FewSmallest(const NearestInput& in) : k_(in.most) {}

  /// Starts with infinite sums, of the points themselves. first: position of the first point.
  void clear(std::uint32_t first) {
    std::fill_n(&best_[0][0], K * kLeaf, kInfinity);
    for (auto& row : names_) std::iota(row, row + kLeaf, static_cast<double>(first));
  }
  /// Returns the k-th smallest sum of each point. [kLeaf]
  [[nodiscard]] HWY_INLINE const double* limits() const { return best_[k_ - 1]; }
  [[nodiscard]] double at(std::uint32_t k, std::size_t query) const { return best_[k - 1][query]; }
  [[nodiscard]] std::uint32_t name(std::uint32_t k, std::size_t query) const {
    return static_cast<std::uint32_t>(names_[k - 1][query]);
  }
  void finish() {}

  /// Calls sum_of(candidate, limit) for each of `count` candidates, at the positions from `first` on, and keeps the
  /// smaller sums, for the points of vector v. If no lane of a sum can be less than the limit, sum_of() may return any
  /// value that is not less.
  template <class F>
  HWY_INLINE void take(std::size_t v, std::uint32_t first, std::uint32_t count, F sum_of) {
    V64 best[K];
    V64 names[Named ? K : 1];  // float64 holds every position
    for (std::size_t i = 0; i < K; ++i) best[i] = hn::LoadU(F64(), best_[i] + v * kLanes);
    if constexpr (Named) {
      for (std::size_t i = 0; i < K; ++i) names[i] = hn::LoadU(F64(), names_[i] + v * kLanes);
    }
    for (std::uint32_t c = 0; c < count; ++c) {
      V64 sum = sum_of(c, best[K - 1]);
      if constexpr (K > 4 || Named) {
        if (hn::AllFalse(F64(), hn::Lt(sum, best[K - 1]))) continue;
      }
      V64 name = hn::Set(F64(), static_cast<double>(first) + c);
      for (std::size_t i = 0; i < K; ++i) {
        if constexpr (Named) {
          const auto before = hn::Lt(sum, best[i]);
          const V64 nearer = hn::IfThenElse(before, name, names[i]);
          name = hn::IfThenElse(before, names[i], name);
          names[i] = nearer;
        }
        const V64 smaller = hn::Min(best[i], sum);
        sum = hn::Max(best[i], sum);
        best[i] = smaller;
      }
    }
    for (std::size_t i = 0; i < K; ++i) hn::StoreU(best[i], F64(), best_[i] + v * kLanes);
    if constexpr (Named) {
      for (std::size_t i = 0; i < K; ++i) hn::StoreU(names[i], F64(), names_[i] + v * kLanes);
    }
  }

 private:
  std::uint32_t k_;
  double best_[K][kLeaf];
  double names_[Named ? K : 1][kLeaf];
};

/// Does the same for any k. Each point gathers a few more candidates than k before it drops the farthest of them, so a
/// candidate costs O(1), and the limit is at most a few candidates old.
class ManySmallest {
 public:
  explicit ManySmallest(const NearestInput& in)
      : k_(in.most), capacity_(k_ + k_ / 4 + 8), gathered_(capacity_ * kLeaf) {}

  void clear(std::uint32_t first) {
    first_ = first;
    std::fill_n(counts_, kLeaf, std::size_t{0});
    std::fill_n(limits_, kLeaf, kInfinity);
  }
  [[nodiscard]] HWY_INLINE const double* limits() const { return limits_; }
  [[nodiscard]] double at(std::uint32_t k, std::size_t query) const { return gathered_[query * capacity_ + k - 1].sum; }
  [[nodiscard]] std::uint32_t name(std::uint32_t k, std::size_t query) const {
    return gathered_[query * capacity_ + k - 1].name;
  }
  /// Sorts the sums; take() must not be called afterwards.
  void finish() {
    for (std::size_t query = 0; query < kLeaf; ++query) {
      keep_smallest(query);
      Candidate* const first = gathered_.data() + query * capacity_;
      std::sort(first, first + counts_[query], nearer);
      // Infinite sums were not gathered.
      std::fill(first + counts_[query], first + capacity_,
                Candidate{kInfinity, first_ + static_cast<std::uint32_t>(query)});
    }
  }

  template <class F>
  HWY_INLINE void take(std::size_t v, std::uint32_t first, std::uint32_t count, F sum_of) {
    for (std::uint32_t c = 0; c < count; ++c) {
      const V64 limit = hn::LoadU(F64(), limits_ + v * kLanes);
      const V64 sum = sum_of(c, limit);
      if (hn::AllFalse(F64(), hn::Lt(sum, limit))) continue;
      double lanes[kLanes];
      hn::StoreU(sum, F64(), lanes);
      for (std::size_t lane = 0; lane < kLanes; ++lane) gather(v * kLanes + lane, {lanes[lane], first + c});
    }
  }

 private:
  struct Candidate {
    double sum;
    std::uint32_t name;
  };
  static bool nearer(const Candidate& a, const Candidate& b) { return a.sum < b.sum; }

  void gather(std::size_t query, const Candidate& candidate) {
    if (!(candidate.sum < limits_[query])) return;
    gathered_[query * capacity_ + counts_[query]++] = candidate;
    if (counts_[query] == capacity_ || (counts_[query] == k_ && limits_[query] == kInfinity)) keep_smallest(query);
  }
  void keep_smallest(std::size_t query) {
    if (counts_[query] < k_) return;
    Candidate* const first = gathered_.data() + query * capacity_;
    std::nth_element(first, first + k_ - 1, first + counts_[query], nearer);
    counts_[query] = k_;
    limits_[query] = first[k_ - 1].sum;
  }

  std::size_t k_;
  std::size_t capacity_;  ///< candidates that a point can hold
  std::vector<Candidate> gathered_;
  std::uint32_t first_ = 0;  ///< position of the first point
  std::size_t counts_[kLeaf];
  double limits_[kLeaf];
};

/// The nearest points of each point of a leaf whose weights, with its own, are enough.
class EnoughWeight {
 public:
  explicit EnoughWeight(const NearestInput& in) : in_(in) {}

  /// first: position of the first point.
  void clear(std::uint32_t first) {
    for (std::uint32_t query = 0; query < kLeaf; ++query) {
      own_[query] = in_.units[std::min<std::size_t>(first + query, in_.units.size() - 1)];
      gathered_[query].clear();
      weights_[query] = own_[query];
      limits_[query] = own_[query] >= in_.enough ? 0 : kInfinity;
      capacities_[query] = kFew;
    }
  }
  /// Returns the sum within which the weights gathered so far are enough. [kLeaf]
  [[nodiscard]] HWY_INLINE const double* limits() const { return limits_; }
  [[nodiscard]] double at(std::size_t query) const { return limits_[query]; }
  void finish() {
    for (std::size_t query = 0; query < kLeaf; ++query) keep_nearest(query);
  }

  template <class F>
  HWY_INLINE void take(std::size_t v, std::uint32_t first, std::uint32_t count, F sum_of) {
    for (std::uint32_t c = 0; c < count; ++c) {
      const std::int64_t units = in_.units[first + c];
      if (units == 0) continue;
      const V64 limit = hn::LoadU(F64(), limits_ + v * kLanes);
      const V64 sum = sum_of(c, limit);
      if (hn::AllFalse(F64(), hn::Lt(sum, limit))) continue;
      double lanes[kLanes];
      hn::StoreU(sum, F64(), lanes);
      for (std::size_t lane = 0; lane < kLanes; ++lane) gather(v * kLanes + lane, {lanes[lane], units});
    }
  }

 private:
  static constexpr std::size_t kFew = 32;
  struct Candidate {
    double sum;
    std::int64_t units;
  };

  void gather(std::size_t query, const Candidate& candidate) {
    if (!(candidate.sum < limits_[query])) return;
    gathered_[query].push_back(candidate);
    weights_[query] += candidate.units;
    const bool just_enough = limits_[query] == kInfinity && weights_[query] >= in_.enough;
    if (just_enough || gathered_[query].size() == capacities_[query]) keep_nearest(query);
  }
  void keep_nearest(std::size_t query) {
    std::vector<Candidate>& gathered = gathered_[query];
    std::sort(gathered.begin(), gathered.end(), [](const Candidate& a, const Candidate& b) { return a.sum < b.sum; });
    WeightSum weight = own_[query];
    std::size_t count = 0;
    while (count < gathered.size() && weight < in_.enough) weight += gathered[count++].units;
    gathered.resize(count);
    weights_[query] = weight;
    if (weight >= in_.enough && count > 0) limits_[query] = gathered.back().sum;
    capacities_[query] = 2 * count + kFew;
  }

  const NearestInput& in_;
  std::int64_t own_[kLeaf];
  std::vector<Candidate> gathered_[kLeaf];
  WeightSum weights_[kLeaf];  ///< of the point and its candidates
  double limits_[kLeaf];
  std::size_t capacities_[kLeaf];  ///< the number of candidates at which the farthest are dropped
};

/// The lowest pair of each point of a leaf. Pairs of one height are compared by their sums, then by the coordinates of
/// the other points, so that the order of rows does not matter.
class LowestPair {
 public:
  explicit LowestPair(const NearestInput& in) : in_(in) {}

  /// first: position of the first point.
  void clear(std::uint32_t first) {
    const auto order = in_.queries.order();
    for (std::uint32_t query = 0; query < kLeaf; ++query) {
      const std::size_t position = std::min<std::size_t>(first + query, order.size() - 1);
      own_core_[query] = in_.neighbors[order[position]].height;
      best_[query] = {kInfinity, kInfinity, 0};
      limits_[query] = kInfinity;
    }
  }
  /// Returns for each point a number that is larger than all sums that may still matter. [kLeaf]
  [[nodiscard]] HWY_INLINE const double* limits() const { return limits_; }
  [[nodiscard]] MutualNeighbor at(std::size_t query) const {
    const Pair& best = best_[query];
    return {best.height, best.height < kInfinity ? in_.leaves.order()[best.position] : MutualNeighbor::kNone};
  }
  void finish() {}

  template <class F>
  HWY_INLINE void take(std::size_t v, std::uint32_t first, std::uint32_t count, F sum_of) {
    for (std::uint32_t c = 0; c < count; ++c) {
      const V64 limit = hn::LoadU(F64(), limits_ + v * kLanes);
      const V64 sum = sum_of(c, limit);
      if (hn::AllFalse(F64(), hn::Lt(sum, limit))) continue;
      const double core = in_.core[in_.leaves.order()[first + c]];
      double lanes[kLanes];
      hn::StoreU(sum, F64(), lanes);
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        const std::size_t query = v * kLanes + lane;
        if (lanes[lane] < limits_[query]) {
          offer(query, {std::max({lanes[lane], core, own_core_[query]}), lanes[lane], first + c});
        }
      }
    }
  }

 private:
  struct Pair {
    double height;
    double sum;
    std::uint32_t position;
  };

  void offer(std::size_t query, const Pair& pair) {
    Pair& best = best_[query];
    if (std::tie(best.height, best.sum) < std::tie(pair.height, pair.sum)) return;
    if (best.height == pair.height && best.sum == pair.sum && !before(pair.position, best.position)) return;
    best = pair;
    limits_[query] = std::nextafter(pair.height, kInfinity);  // other pairs may be as high
  }
  /// Returns whether p is before q in the order of coordinates, or of input ids if they are equal.
  [[nodiscard]] bool before(std::uint32_t p, std::uint32_t q) const {
    const double* const a = in_.leaves.leaf(p / kLeaf) + p % kLeaf;
    const double* const b = in_.leaves.leaf(q / kLeaf) + q % kLeaf;
    for (std::size_t k = 0; k < in_.leaves.dims(); ++k) {
      if (a[k * kLeaf] != b[k * kLeaf]) return a[k * kLeaf] < b[k * kLeaf];
    }
    return in_.leaves.order()[p] < in_.leaves.order()[q];
  }

  const NearestInput& in_;
  double own_core_[kLeaf];
  Pair best_[kLeaf];
  double limits_[kLeaf];
};

template <class Sums, class Smallest>
class LeafSearch {
 public:
  explicit LeafSearch(const NearestInput& input)
      : leaves_(input.leaves),
        queries_(input.queries),
        cancel_(input.cancel),
        sums_(input.space, input.leaves.dims()),
        smallest_(input),
        box_(2 * leaves_.dims()) {}

  /// leaf: of the points that search. Throws Cancelled.
  HWY_INLINE const Smallest& search(std::uint32_t leaf) {
    own_ = queries_.leaf(leaf);
    copy_box(queries_, leaf, box_);
    smallest_.clear(leaf * LeafOrder::kLeaf);
    if (&queries_ == &leaves_) {
      for (std::size_t v = 0; v < kLeaf / kLanes; ++v) scan<true>(v, leaf);
      find_limit();
      std::uint32_t child = leaf;
      for (std::size_t level = 0; level < leaves_.levels() && limit_ > 0; ++level, child /= LeafOrder::kBranch) {
        visit(level, child / LeafOrder::kBranch, child);
      }
    } else {
      find_limit();
      visit(leaves_.levels() - 1, 0, ~0U);
    }
    smallest_.finish();
    return smallest_;
  }

 private:
  /// Visits the boxes of a group, except one of them.
  void visit(std::size_t level, std::uint32_t group, std::uint32_t except) {
    cancel_.check();  // here, because in many dimensions a single leaf takes long
    double bounds[kBranch];
    const double* const boxes = leaves_.boxes(level, group);
    for (std::size_t b = 0; b < kBranch; b += kLanes) {
      hn::StoreU(box_bounds(sums_, box_.data(), boxes + b), F64(), bounds + b);
    }
    // The nearest first, so that limits fall soon.
    std::uint32_t order[kBranch];
    std::size_t count = 0;
    for (std::uint32_t b = 0; b < kBranch; ++b) {
      if (!(bounds[b] < limit_) || group * LeafOrder::kBranch + b == except) continue;
      std::size_t at = count++;
      for (; at > 0 && bounds[b] < bounds[order[at - 1]]; --at) order[at] = order[at - 1];
      order[at] = b;
    }
    for (std::size_t i = 0; i < count && bounds[order[i]] < limit_; ++i) {
      const std::uint32_t child = group * LeafOrder::kBranch + order[i];
      if (level > 0) {
        visit(level - 1, child, ~0U);
      } else {
        scan_leaf(child, boxes + order[i]);
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
      scan<false>(v, leaf);
    }
    find_limit();
  }

  /// Offers the points of `leaf` to the points of vector v. Own: it is the searched leaf, and a point skips itself.
  template <bool Own>
  HWY_INLINE void scan(std::size_t v, std::uint32_t leaf) {
    const double* const candidates = leaves_.leaf(leaf);
    const double* const own = own_ + v * kLanes;
    const V64 queries = hn::Iota(F64(), static_cast<double>(v * kLanes));
    smallest_.take(v, leaf * LeafOrder::kLeaf, leaves_.filled(leaf), [&](std::uint32_t c, V64 limit) HWY_ATTR {
      V64 sum = hn::Zero(F64());
      for (std::size_t k = 0; k < sums_.dims(); ++k) {
        sum = sums_.add(sum, k, hn::Sub(hn::LoadU(F64(), own + k * kLeaf), hn::Set(F64(), candidates[k * kLeaf + c])));
        // Sums never decrease.
        if (k % 8 == 7 && hn::AllFalse(F64(), hn::Lt(sum, limit))) break;
      }
      if constexpr (Own) {
        const V64 self = hn::Set(F64(), static_cast<double>(c));
        sum = hn::IfThenElse(hn::Eq(queries, self), hn::Set(F64(), kInfinity), sum);
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
  const LeafOrder& queries_;
  const CancelToken& cancel_;
  Sums sums_;
  Smallest smallest_;
  std::vector<double> box_;  ///< box of the leaf: both ends, dimension after dimension
  const double* own_ = nullptr;
  double limit_ = 0;  ///< the largest k-th sum of the leaf's points
};

template <class Smallest>
void store(const NearestInput& in, const Smallest& found, std::uint32_t query, std::size_t position) {
  if (in.lists != nullptr) {
    for (std::uint32_t k = 1; k <= in.most; ++k) in.lists[position * in.most + k - 1] = found.name(k, query);
    return;
  }
  double* const sums = in.sums + in.queries.order()[position] * in.ks.size();
  for (std::size_t j = 0; j < in.ks.size(); ++j) sums[j] = found.at(in.ks[j], query);
}
void store(const NearestInput& in, const LowestPair& found, std::uint32_t query, std::size_t position) {
  in.neighbors[in.queries.order()[position]] = found.at(query);
}

void store(const NearestInput& in, const EnoughWeight& found, std::uint32_t query, std::size_t position) {
  in.sums[position] = found.at(query);
}

template <class Sums, class Smallest>
void search_with(const NearestInput& in, std::uint32_t first, std::uint32_t last) {
  LeafSearch<Sums, Smallest> search(in);
  for (std::uint32_t leaf = first; leaf < last; ++leaf) {
    const Smallest& found = search.search(leaf);
    for (std::uint32_t query = 0; query < in.queries.filled(leaf); ++query) {
      store(in, found, query, std::size_t{leaf} * kLeaf + query);
    }
  }
}

template <class Sums, bool Named>
void search_for(const NearestInput& in, std::uint32_t first, std::uint32_t last) {
  if (in.most <= 4) return search_with<Sums, FewSmallest<4, Named>>(in, first, last);
  if (in.most <= 8) return search_with<Sums, FewSmallest<8, Named>>(in, first, last);
  if (in.most <= 16) return search_with<Sums, FewSmallest<16, Named>>(in, first, last);
  search_with<Sums, ManySmallest>(in, first, last);
}

template <class Sums>
void search_by(const NearestInput& in, std::uint32_t first, std::uint32_t last) {
  if (in.neighbors != nullptr) return search_with<Sums, LowestPair>(in, first, last);
  if (!in.units.empty()) return search_with<Sums, EnoughWeight>(in, first, last);
  if (in.lists != nullptr) return search_for<Sums, true>(in, first, last);
  search_for<Sums, false>(in, first, last);
}

void search_leaves(const NearestInput& in, std::uint32_t first, std::uint32_t last) {
  with_norm_sums(in.space, in.leaves.dims(), [&]<class Sums>(const Sums&) { search_by<Sums>(in, first, last); });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace epsflow::index
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace epsflow::index {

HWY_EXPORT(search_leaves);

namespace {

void search_all(const NearestInput& input) {
  constexpr std::uint32_t kGrain = 64;
  parallel_ranges(input.queries.leaves(), kGrain, [&](std::size_t begin, std::size_t end) {
    input.cancel.check();
    HWY_DYNAMIC_DISPATCH(search_leaves)(input, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end));
  });
}

}  // namespace

void nearest_sums(PointsView points, const Space& space, std::span<const std::uint32_t> ks, double* sums,
                  const CancelToken& cancel) {
  if (points.size() == 0 || ks.empty()) return;
  const LeafOrder leaves(points, cancel);
  search_all({leaves, leaves, space, cancel, ks, *std::max_element(ks.begin(), ks.end()), sums});
}

void nearest_lists(const LeafOrder& leaves, const Space& space, std::size_t length, std::uint32_t* lists,
                   const CancelToken& cancel) {
  if (leaves.size() == 0 || length == 0) return;
  search_all({leaves, leaves, space, cancel, {}, narrow<std::uint32_t>(length), nullptr, lists});
}

void weighted_sums(const LeafOrder& leaves, const Space& space, std::span<const std::int64_t> units, WeightSum enough,
                   double* sums, const CancelToken& cancel) {
  search_all({.leaves = leaves,
              .queries = leaves,
              .space = space,
              .cancel = cancel,
              .sums = sums,
              .units = units,
              .enough = enough});
}

std::uint64_t weighted_bytes(std::span<const std::int64_t> units, WeightSum enough, unsigned threads) {
  std::vector<std::uint64_t> ascending(units.begin(), units.end());
  parallel_sort(ascending);
  std::uint64_t needed = 0;
  WeightSum sum = 0;
  for (const std::uint64_t weight : ascending) {
    if (sum >= enough) break;
    sum += static_cast<WeightSum>(weight);
    if (weight > 0) ++needed;
  }
  // A point gathers up to twice as many, in a vector that may have grown to twice that (EnoughWeight).
  constexpr std::uint64_t kFew = 32;
  constexpr std::uint64_t kCandidate = sizeof(double) + sizeof(std::int64_t);
  return threads * LeafOrder::kLeaf * 2 * (2 * needed + kFew) * kCandidate;
}

Buffer<MutualNeighbor> mutual_neighbors(PointsView points, std::span<const double> core, std::uint32_t k,
                                        PointsView queries, const Space& space, const CancelToken& cancel) {
  Buffer<MutualNeighbor> found(queries.size());
  if (queries.size() == 0) return found;
  const LeafOrder leaves(points, cancel);
  const LeafOrder others(queries, cancel);
  std::fill(found.begin(), found.end(), MutualNeighbor{});
  if (k > 0) {
    Buffer<double> sums(queries.size());
    search_all({leaves, others, space, cancel, std::span(&k, 1), k, sums.data()});
    for (std::size_t i = 0; i < found.size(); ++i) found[i].height = sums[i];
  }
  search_all(
      {.leaves = leaves, .queries = others, .space = space, .cancel = cancel, .core = core, .neighbors = found.data()});
  return found;
}

std::uint64_t nearest_bytes(std::uint64_t n, std::size_t dims) noexcept { return LeafOrder::most_bytes(n, dims); }

}  // namespace epsflow::index
#endif
