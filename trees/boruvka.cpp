#include <epsflow/trees/boruvka.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <limits>
#include <mutex>
#include <numeric>

#include <epsflow/clustering/union_find.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/parallel.hpp>
#include <epsflow/index/component_search.hpp>
#include <epsflow/index/distance.hpp>
#include <epsflow/index/leaf_order.hpp>
#include <epsflow/index/nearest.hpp>
#include <epsflow/index/radix_sort.hpp>
#include <epsflow/trees/hierarchy.hpp>

// Borůvka's algorithm. In each round each component names its lowest pair with a point of another component.
//
// Most lowest pairs are in the lists of the nearest points. The height of any other pair with p is at least the largest
// sum in the list of p, the reach of p. If the lowest listed pair of a component is at most as high as the reach of
// each of its points, no other pair is lower. Points of a smaller reach search (index/component_search.hpp).
//
// All minpts share the lists of the largest: sums, and with them the order of a list, do not depend on minpts. Each
// minpts makes its own rounds and searches.
//
// In the first round each point is a component. Its lowest pair is as high as its core sum if one of its nearest
// minpts − 1 points has a core sum that is at most as large.
//
// Pairs of equal height. All pairs that the components name are added, except those that close a cycle. The pairs form
// cycles only if all pairs of a cycle have one height: along the cycle each is at most as high as the one before.
// Leaving out one pair of such a cycle leaves a forest. It is part of a minimum spanning tree: contract the
// components below this height; the components that name a pair of this height are still alone then, and a forest
// between contracted points may be extended to a spanning one.

namespace epsflow::trees {
namespace {

using clustering::UnionFind;
using index::HeightPair;

constexpr std::size_t kPiece = 1 << 13;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The nearest other points of each point.
struct NearLists {
  std::size_t length = 0;     ///< of each list
  Buffer<std::uint32_t> ids;  ///< [n × length] positions, nearest first
};

/// Returns how many points lists should name, at least `most` if there are as many. The more, the fewer points search;
/// up to 16 cost little (index/nearest.cpp).
std::size_t list_length(std::size_t n, std::size_t most) {
  const std::size_t good = most <= 5 ? 8 : most <= 12 ? 16 : most + most / 8 + 2;
  return std::min(n - 1, good);
}

/// Returns how many other points lists must name for these minpts. With weights it is a guess, for which any number is
/// right.
std::size_t others_listed(std::uint64_t n, std::span<const std::uint32_t> minpts, const WholeWeights* weights) {
  const std::uint32_t most = *std::max_element(minpts.begin(), minpts.end());
  if (weights == nullptr) return most - 1;
  constexpr double kMost = 32;
  return static_cast<std::size_t>(
      std::min(kMost, most * static_cast<double>(n) / weights->weight_of(weights->total())));
}

[[noreturn]] void throw_too_far() {
  throw InputError(
      "points are so far from each other that the square of a distance is beyond float64: divide all coordinates by "
      "one "
      "factor, or leave out points that are so far away");
}

class Boruvka {
 public:
  /// weights: null if each point counts 1.
  Boruvka(const index::LeafOrder& leaves, const Space& space, const NearLists& lists, const WholeWeights* weights,
          const CancelToken& cancel)
      : leaves_(leaves),
        space_(space),
        cancel_(cancel),
        parent_(leaves.size()),
        component_(leaves.size()),
        lists_(lists),
        weights_(weights),
        units_(weights != nullptr ? leaves.size() : 0),
        near_(units_.size()),
        core_(leaves.size()),
        reach_(leaves.size()) {
    for (const ClosedAxis& axis : space.axes) periods_.push_back(axis.length);
    space_view_ = {space.norm, space.power, periods_.empty() ? nullptr : periods_.data()};
    for (std::size_t p = 0; p < units_.size(); ++p) units_[p] = (*weights)[leaves.order()[p]];
  }

  /// Finds a tree for minpts; take_edges() returns its edges, in any order, with positions as ends, core() the core
  /// sums.
  void run(std::uint32_t minpts) {
    k_ = weights_ != nullptr ? lists_.length : minpts - 1;
    used_ = std::min(lists_.length, list_length(size(), k_));
    edges_ = Buffer<Edge>(size() - 1);
    count_ = 0;
    std::iota(parent_.begin(), parent_.end(), 0U);
    if (weights_ != nullptr) {
      index::weighted_sums(leaves_, space_, units_.span(), weights_->least_sum(minpts), core_.data(), cancel_);
      measure_weighted_lists();
    } else {
      measure_lists();
    }
    descend();
    std::vector<std::uint32_t> open(size());
    std::iota(open.begin(), open.end(), 0U);
    index::ComponentSearch search(leaves_, space_, core_.span(), reach_.span());
    std::vector<HeightPair> pairs;
    for (std::uint32_t count = number_components(); count > 1; count = number_components()) {
      cancel_.check();
      pairs.resize(count);
      index::LowestPairs best(pairs);
      find_in_lists(open, best);
      const std::uint32_t largest = largest_of(count);
      search.search(component_.span(), largest, best, cancel_);
      unite(pairs, largest);
    }
  }
  /// [n] by position
  [[nodiscard]] std::span<const double> core() const { return core_.span(); }
  [[nodiscard]] Buffer<Edge> take_edges() { return std::move(edges_); }

 private:
  [[nodiscard]] std::size_t size() const noexcept { return leaves_.size(); }
  [[nodiscard]] UnionFind sets() { return UnionFind(parent_.span()); }
  [[nodiscard]] std::span<const std::uint32_t> list(std::uint32_t p) const {
    return lists_.ids.span().subspan(p * lists_.length, used_);
  }
  /// Returns the height of the pair of p and the i-th point of its list, which is q.
  [[nodiscard]] double height(std::uint32_t p, std::size_t i, std::uint32_t q) const {
    const double core = std::max(core_[p], core_[q]);
    return i < near(p) ? core : std::max(core, sum(p, q));
  }
  /// Returns how many points at the begin of the list of p have sums that are at most the core sum of p.
  [[nodiscard]] std::size_t near(std::uint32_t p) const { return weights_ != nullptr ? near_[p] : k_; }
  [[nodiscard]] double sum(std::uint32_t p, std::uint32_t q) const {
    constexpr std::uint32_t kLeaf = index::LeafOrder::kLeaf;
    const double* const a = leaves_.leaf(p / kLeaf) + p % kLeaf;
    const double* const b = leaves_.leaf(q / kLeaf) + q % kLeaf;
    return index::norm_sum<0>(
        space_view_, [a](std::size_t k) { return a[k * kLeaf]; }, [b](std::size_t k) { return b[k * kLeaf]; },
        leaves_.dims());
  }
  [[nodiscard]] bool before(std::uint32_t p, std::uint32_t q) const {
    return core_[p] < core_[q] || (core_[p] == core_[q] && p < q);
  }

  /// Sets the core sum of each point, which is the sum of the k-th of its list, and the largest sum of its list.
  void measure_lists() {
    parallel_ranges(size(), kPiece, [&](std::size_t begin, std::size_t end) {
      cancel_.check();
      for (auto p = static_cast<std::uint32_t>(begin); p < end; ++p) {
        const std::span<const std::uint32_t> others = list(p);
        core_[p] = k_ > 0 ? sum(p, others[k_ - 1]) : 0;
        reach_[p] = others.empty() ? 0 : sum(p, others.back());
        // A list names the point itself if float64 holds no larger sum.
        if (k_ > 0 && others[k_ - 1] == p) throw_too_far();
        if (!others.empty() && others.back() == p) reach_[p] = kInfinity;
      }
    });
  }

  /// Counts the listed points within the core sum of each point, and sets the largest sum of its list.
  void measure_weighted_lists() {
    parallel_ranges(size(), kPiece, [&](std::size_t begin, std::size_t end) {
      cancel_.check();
      for (auto p = static_cast<std::uint32_t>(begin); p < end; ++p) {
        const std::span<const std::uint32_t> others = list(p);
        if (!(core_[p] < kInfinity)) throw_too_far();
        std::size_t count = 0;
        while (count < others.size() && others[count] != p && sum(p, others[count]) <= core_[p]) ++count;
        near_[p] = static_cast<std::uint32_t>(count);
        reach_[p] = others.empty() ? 0 : others.back() == p ? kInfinity : sum(p, others.back());
      }
    });
  }

  void add(const std::vector<Edge>& found) {
    std::copy(found.begin(), found.end(), edges_.begin() + count_.fetch_add(found.size()));
  }

  /// Adds a pair for each point with a listed point of a smaller core sum (of equal ones: a smaller position) within
  /// its core sum. Such pairs form no cycle.
  void descend() {
    parallel_ranges(size(), kPiece, [&](std::size_t begin, std::size_t end) {
      cancel_.check();
      std::vector<Edge> found;
      for (auto p = static_cast<std::uint32_t>(begin); p < end; ++p) {
        std::uint32_t lowest = p;
        for (const std::uint32_t q : list(p).first(near(p))) {
          if (before(q, lowest)) lowest = q;
        }
        if (lowest == p) continue;
        found.push_back({core_[p], p, lowest});
        (void)sets().unite(p, lowest);
      }
      add(found);
    });
  }

  /// Numbers the components, and returns how many there are.
  std::uint32_t number_components() {
    parallel_ranges(size(), kPiece, [&](std::size_t begin, std::size_t end) {
      for (auto p = static_cast<std::uint32_t>(begin); p < end; ++p) sets().flatten(p);
    });
    std::uint32_t count = 0;
    numbers_.resize(size());
    for (std::uint32_t p = 0; p < size(); ++p) {
      if (parent_[p] == p) numbers_[p] = count++;
    }
    parallel_ranges(size(), kPiece, [&](std::size_t begin, std::size_t end) {
      for (std::size_t p = begin; p < end; ++p) component_[p] = numbers_[parent_[p]];
    });
    return count;
  }

  /// Offers the listed pairs to their components. Drops points from `open` whose lists lead nowhere.
  void find_in_lists(std::vector<std::uint32_t>& open, index::LowestPairs& best) {
    keep_open(open);
    parallel_ranges(open.size(), kPiece, [&](std::size_t begin, std::size_t end) {
      cancel_.check();
      for (std::size_t i = begin; i < end; ++i) {
        const std::uint32_t p = open[i];
        const std::span<const std::uint32_t> others = list(p);
        for (std::size_t j = 0; j < others.size(); ++j) {
          const std::uint32_t q = others[j];
          if (component_[p] == component_[q]) continue;
          const HeightPair pair{height(p, j, q), p, q};
          best.offer(component_[p], pair);
          best.offer(component_[q], pair);
        }
      }
    });
  }

  /// Keeps the points with a point of another component in their list.
  void keep_open(std::vector<std::uint32_t>& open) {
    std::vector<std::uint32_t> still_open;
    std::mutex mutex;
    parallel_ranges(open.size(), kPiece, [&](std::size_t begin, std::size_t end) {
      cancel_.check();
      std::vector<std::uint32_t> found;
      for (std::size_t i = begin; i < end; ++i) {
        const std::uint32_t p = open[i];
        const auto others = list(p);
        if (std::any_of(others.begin(), others.end(),
                        [&](std::uint32_t q) { return component_[q] != component_[p]; })) {
          found.push_back(p);
        }
      }
      const std::scoped_lock lock(mutex);
      still_open.insert(still_open.end(), found.begin(), found.end());
    });
    open = std::move(still_open);
  }

  [[nodiscard]] std::uint32_t largest_of(std::uint32_t count) const {
    std::vector<std::uint32_t> sizes(count);
    for (const std::uint32_t c : component_) ++sizes[c];
    return static_cast<std::uint32_t>(std::max_element(sizes.begin(), sizes.end()) - sizes.begin());
  }

  /// Adds the pairs that components name, except pairs that close a cycle, and except the pair of `largest`.
  void unite(std::span<const HeightPair> best, std::uint32_t largest) {
    parallel_ranges(best.size(), kPiece, [&](std::size_t begin, std::size_t end) {
      cancel_.check();
      std::vector<Edge> found;
      for (std::size_t c = begin; c < end; ++c) {
        const HeightPair& pair = best[c];
        if (!(pair.height < kInfinity) && c != largest) throw_too_far();
        if (c != largest && sets().join(pair.from, pair.to).ended != clustering::kNotCore)
          found.push_back({pair.height, pair.from, pair.to});
      }
      add(found);
    });
  }

  const index::LeafOrder& leaves_;
  const Space& space_;
  std::vector<double> periods_;
  index::SpaceView space_view_;
  const CancelToken& cancel_;
  Buffer<std::uint32_t> parent_;     ///< of the sets, by position
  Buffer<std::uint32_t> component_;  ///< number of the set of each position
  std::vector<std::uint32_t> numbers_;
  const NearLists& lists_;
  const WholeWeights* weights_;
  Buffer<std::int64_t> units_;  ///< weights by position
  Buffer<std::uint32_t> near_;  ///< see near()
  std::size_t k_ = 0;           ///< how many of its nearest other points make a point core, without weights
  std::size_t used_ = 0;        ///< how many points of each list are used
  Buffer<double> core_;
  Buffer<double> reach_;
  Buffer<Edge> edges_;
  std::atomic<std::size_t> count_ = 0;
};

/// Sorts edges by height.
Buffer<Edge> sorted(Buffer<Edge> edges, const CancelToken& cancel) {
  Buffer<index::KeyedId> items(edges.size()), spare(edges.size());
  parallel_ranges(edges.size(), kPiece, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      items[i] = {std::bit_cast<std::uint64_t>(edges[i].height), static_cast<std::uint32_t>(i)};
    }
  });
  const auto order = index::radix_sort(
      items.span(), spare.span(), 64, [](const index::KeyedId& item) { return item.key; }, cancel);
  Buffer<Edge> result(edges.size());
  parallel_ranges(edges.size(), kPiece, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) result[i] = edges[order[i].id];
  });
  return result;
}

}  // namespace

void spanning_trees(PointsView points, const Space& space, std::span<const std::uint32_t> minpts,
                    const CancelToken& cancel, const std::function<void(SpanningTree&&)>& take,
                    const WholeWeights* weights) {
  if (minpts.empty()) return;
  const index::LeafOrder leaves(points, cancel);
  const std::size_t n = leaves.size();
  const std::span<const std::uint32_t> order = leaves.order();
  NearLists lists;
  lists.length = list_length(n, others_listed(n, minpts, weights));
  lists.ids = Buffer<std::uint32_t>(n * lists.length);
  index::nearest_lists(leaves, space, lists.length, lists.ids.data(), cancel);
  Boruvka boruvka(leaves, space, lists, weights, cancel);
  for (std::size_t j = 0; j < minpts.size(); ++j) {
    const std::uint32_t m = minpts[j];
    boruvka.run(m);
    if (j + 1 == minpts.size()) lists.ids = {};  // no other run reads them
    SpanningTree tree{m, Buffer<double>(n), sorted(boruvka.take_edges(), cancel)};
    parallel_ranges(n, kPiece, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        tree.core[order[i]] = boruvka.core()[i];
        if (i == n - 1) break;
        tree.edges[i].a = order[tree.edges[i].a];
        tree.edges[i].b = order[tree.edges[i].b];
      }
    });
    take(std::move(tree));
  }
}

std::uint64_t spanning_trees_bytes(std::uint64_t n, std::size_t dims, std::span<const std::uint32_t> minpts,
                                   const WholeWeights* weights) noexcept {
  if (n == 0 || minpts.empty()) return 0;
  const std::size_t length = list_length(n, others_listed(n, minpts, weights));
  // Sets, numbers of components, lists of open points, core sums, reach, edges, and two lists to sort them by; then the
  // making of a Hierarchy.
  constexpr std::uint64_t kRow =
      4 * sizeof(std::uint32_t) + 2 * sizeof(double) + sizeof(Edge) + 2 * sizeof(index::KeyedId);
  const std::uint64_t weighing = weights != nullptr ? sizeof(std::int64_t) + sizeof(std::uint32_t) : 0;
  return index::LeafOrder::most_bytes(n, dims) + n * (kRow + weighing + length * sizeof(std::uint32_t)) +
         hierarchy_bytes(n);
}

std::uint64_t hierarchy_bytes(std::uint64_t n) noexcept {
  return n * (2 * sizeof(TreeNode) + 4 * sizeof(std::uint32_t));
}

}  // namespace epsflow::trees
