#include <epsflow/index/component_search.hpp>

#include <epsflow/index/instruction_sets.hpp>
// It must come before any header of Highway.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "epsflow/index/component_search.cpp"  // NOLINT: highway compiles this file once per set
#include <hwy/foreach_target.h>
// foreach_target.h must come first
#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include <epsflow/core/parallel.hpp>
#include <epsflow/index/leaf_order.hpp>
#include <epsflow/index/norm_sums-inl.hpp>

HWY_BEFORE_NAMESPACE();
namespace epsflow::index {
#ifndef EPSFLOW_INDEX_COMPONENT_SEARCH_SHARED
#define EPSFLOW_INDEX_COMPONENT_SEARCH_SHARED
struct ComponentInput {
  const LeafOrder& leaves;
  const Space& space;
  const CancelToken& cancel;
  std::span<const double> core;
  std::span<const double> reach;
  std::span<const std::uint32_t> components;
  std::uint32_t largest;
  const std::vector<std::vector<double>>& least_reach;
  const std::vector<std::vector<std::uint32_t>>& box_component;
  std::vector<double>& lower;
  LowestPairs& best;
};
#endif

namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
constexpr std::size_t kLeaf = LeafOrder::kLeaf;
constexpr std::size_t kBranch = LeafOrder::kBranch;
constexpr std::uint32_t kMixed = ~0U;
static_assert(kLeaf % kLanes == 0 && kBranch % kLanes == 0, "leaves and groups of boxes are whole vectors");

/// Searches for the points of a leaf, which are side by side in vectors; candidates come one at a time.
template <class Sums>
class OutsideSearch {
 public:
  explicit OutsideSearch(const ComponentInput& input)
      : in_(input), leaves_(input.leaves), sums_(input.space, input.leaves.dims()), box_(2 * leaves_.dims()) {}

  void search(std::uint32_t leaf) {
    component_ = in_.box_component[0][leaf];
    if (component_ == in_.largest) return;
    start(leaf);
    if (!(in_.lower[leaf] < limit_)) return;
    if (component_ == kMixed) scan(leaf);
    std::uint32_t child = leaf;
    for (std::size_t level = 0; level < leaves_.levels() && least_reach_ < limit_;
         ++level, child /= LeafOrder::kBranch) {
      visit(level, child / LeafOrder::kBranch, child);
    }
    finish(leaf);
  }

 private:
  void start(std::uint32_t leaf) {
    own_ = leaves_.leaf(leaf);
    first_ = leaf * LeafOrder::kLeaf;
    least_reach_ = in_.least_reach[0][leaf];
    copy_box(leaves_, leaf, box_);
    const std::uint32_t filled = leaves_.filled(leaf);
    for (std::uint32_t i = 0; i < kLeaf; ++i) {
      const std::size_t position = std::size_t{leaf} * kLeaf + std::min(i, filled - 1);
      const std::uint32_t component = in_.components[position];
      core_[i] = in_.core[position];
      of_[i] = static_cast<double>(component);
      const double height = in_.best.height(component);
      const bool searches = i < filled && component != in_.largest && in_.reach[position] < height;
      best_[i] = searches ? height : -kInfinity;
      found_[i] = -1;
    }
    find_limit();
  }

  void finish(std::uint32_t leaf) {
    double lower = kInfinity;
    for (std::uint32_t i = 0; i < leaves_.filled(leaf); ++i) {
      lower = std::min(lower, best_[i] >= 0 ? best_[i] : in_.reach[first_ + i]);
    }
    in_.lower[leaf] = lower;
  }

  /// Visits the boxes of a group, except one of them.
  void visit(std::size_t level, std::uint32_t group, std::uint32_t except) {
    in_.cancel.check();  // here, because in many dimensions a single leaf takes long
    double bounds[kBranch];
    const double* const boxes = leaves_.boxes(level, group);
    for (std::size_t b = 0; b < kBranch; b += kLanes) {
      const V64 cores = hn::LoadU(F64(), in_.least_reach[level].data() + group * kBranch + b);
      hn::StoreU(hn::Max(box_bounds(sums_, box_.data(), boxes + b), cores), F64(), bounds + b);
    }
    for (std::uint32_t b = 0; b < kBranch; ++b) {
      const std::uint32_t child = group * LeafOrder::kBranch + b;
      if (!(bounds[b] < limit_) || child == except) continue;
      const std::uint32_t component = in_.box_component[level][child];
      if (component != kMixed && component == component_) continue;
      if (level > 0) {
        visit(level - 1, child, ~0U);
      } else {
        scan(child);
      }
    }
  }

  /// Offers the points of `leaf` to the searched points.
  HWY_INLINE void scan(std::uint32_t leaf) {
    const double* const candidates = leaves_.leaf(leaf);
    const std::uint32_t first = leaf * LeafOrder::kLeaf;
    for (std::size_t v = 0; v < kLeaf; v += kLanes) {
      V64 best = hn::LoadU(F64(), best_ + v);
      V64 found = hn::LoadU(F64(), found_ + v);
      const V64 of = hn::LoadU(F64(), of_ + v);
      const V64 core = hn::LoadU(F64(), core_ + v);
      for (std::uint32_t c = 0; c < leaves_.filled(leaf); ++c) {
        V64 sum = hn::Zero(F64());
        for (std::size_t k = 0; k < sums_.dims(); ++k) {
          const V64 own = hn::LoadU(F64(), own_ + k * kLeaf + v);
          sum = sums_.add(sum, k, hn::Sub(own, hn::Set(F64(), candidates[k * kLeaf + c])));
          // Sums never decrease.
          if (k % 8 == 7 && hn::AllFalse(F64(), hn::Lt(sum, best))) break;
        }
        const V64 height = hn::Max(hn::Max(sum, core), hn::Set(F64(), in_.core[first + c]));
        const V64 other = hn::Set(F64(), static_cast<double>(in_.components[first + c]));
        const auto lower = hn::And(hn::Lt(height, best), hn::Ne(of, other));
        best = hn::IfThenElse(lower, height, best);
        found = hn::IfThenElse(lower, hn::Set(F64(), static_cast<double>(first + c)), found);
      }
      hn::StoreU(best, F64(), best_ + v);
      hn::StoreU(found, F64(), found_ + v);
    }
    share();
  }

  /// Offers the pairs of the scanned points to the components, and lowers the searched heights to the new ones.
  HWY_INLINE void share() {
    bool any = false;
    for (std::uint32_t i = 0; i < kLeaf; ++i) {
      if (found_[i] < 0) continue;
      any = true;
      const HeightPair pair{best_[i], first_ + i, static_cast<std::uint32_t>(found_[i])};
      in_.best.offer(static_cast<std::uint32_t>(of_[i]), pair);
      in_.best.offer(in_.components[pair.to], pair);
      found_[i] = -1;
    }
    if (!any) return;
    for (std::uint32_t i = 0; i < kLeaf; ++i) {
      if (best_[i] >= 0) best_[i] = in_.best.height(static_cast<std::uint32_t>(of_[i]));
    }
    find_limit();
  }

  HWY_INLINE void find_limit() { limit_ = *std::max_element(best_, best_ + kLeaf); }

  const ComponentInput& in_;
  const LeafOrder& leaves_;
  Sums sums_;
  std::vector<double> box_;      ///< box of the leaf: both ends, dimension after dimension
  std::uint32_t component_ = 0;  ///< component of all points of the leaf, or kMixed
  std::uint32_t first_ = 0;      ///< position of the leaf's first point
  double least_reach_ = 0;
  const double* own_ = nullptr;
  double core_[kLeaf];
  double of_[kLeaf];     ///< component of each point
  double best_[kLeaf];   ///< lowest height so far, of its component or found here; −∞: does not search
  double found_[kLeaf];  ///< the position at this height, or −1
  double limit_ = 0;     ///< the largest of best_
};

void search_components(const ComponentInput& in, std::span<const std::uint32_t> todo) {
  with_norm_sums(in.space, in.leaves.dims(), [&]<class Sums>(const Sums&) {
    OutsideSearch<Sums> search(in);
    for (const std::uint32_t leaf : todo) search.search(leaf);
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace epsflow::index
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace epsflow::index {

HWY_EXPORT(search_components);

namespace {

constexpr std::size_t kGrain = 1 << 12;

/// Calls set(node, first, last) for each of `nodes` nodes: its children are [first, last), `branch` or fewer of
/// `below`.
template <class F>
void for_each_node(std::size_t nodes, std::size_t below, std::size_t branch, F set) {
  parallel_ranges(nodes, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) set(i, i * branch, std::min(below, (i + 1) * branch));
  });
}

}  // namespace

ComponentSearch::ComponentSearch(const LeafOrder& leaves, const Space& space, std::span<const double> core,
                                 std::span<const double> reach)
    : leaves_(leaves), space_(space), core_(core), reach_(reach) {
  std::size_t below = leaves.size();
  for (std::size_t level = 0; level < leaves.levels(); ++level) {
    const std::size_t branch = level == 0 ? LeafOrder::kLeaf : LeafOrder::kBranch;
    const std::size_t nodes = (below + branch - 1) / branch;
    const std::size_t padded = (nodes + LeafOrder::kBranch - 1) / LeafOrder::kBranch * LeafOrder::kBranch;
    least_reach_.emplace_back(padded, std::numeric_limits<double>::infinity());
    component_.emplace_back(padded, kMixed);
    const double* const from = level == 0 ? reach.data() : least_reach_[level - 1].data();
    for_each_node(nodes, below, branch, [&](std::size_t node, std::size_t first, std::size_t last) {
      least_reach_[level][node] = *std::min_element(from + first, from + last);
    });
    below = nodes;
  }
  lower_ = least_reach_[0];
}

void ComponentSearch::find_components_of_boxes(std::span<const std::uint32_t> components) {
  std::size_t below = leaves_.size();
  for (std::size_t level = 0; level < component_.size(); ++level) {
    const std::size_t branch = level == 0 ? LeafOrder::kLeaf : LeafOrder::kBranch;
    const std::size_t nodes = (below + branch - 1) / branch;
    const std::uint32_t* const from = level == 0 ? components.data() : component_[level - 1].data();
    for_each_node(nodes, below, branch, [&](std::size_t node, std::size_t first, std::size_t last) {
      const bool same =
          std::all_of(from + first, from + last, [&](std::uint32_t other) { return other == from[first]; });
      component_[level][node] = same ? from[first] : kMixed;
    });
    below = nodes;
  }
}

void ComponentSearch::search(std::span<const std::uint32_t> components, std::uint32_t largest, LowestPairs& best,
                             const CancelToken& cancel) {
  find_components_of_boxes(components);
  const ComponentInput input{leaves_, space_,       cancel,     core_,  reach_, components,
                             largest, least_reach_, component_, lower_, best};
  // Leaves of several components first: their pairs are short, and bound the search of the others.
  std::vector<std::uint32_t> todo;
  for (const bool mixed : {true, false}) {
    todo.clear();
    for (std::uint32_t leaf = 0; leaf < leaves_.leaves(); ++leaf) {
      const std::uint32_t component = component_[0][leaf];
      if (component != largest && (component == kMixed) == mixed) todo.push_back(leaf);
    }
    constexpr std::size_t kLeaves = 64;
    parallel_ranges(todo.size(), kLeaves, [&](std::size_t begin, std::size_t end) {
      cancel.check();
      HWY_DYNAMIC_DISPATCH(search_components)(input, std::span(todo).subspan(begin, end - begin));
    });
  }
}

}  // namespace epsflow::index
#endif
