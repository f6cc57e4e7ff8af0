#include <epsflow/pipeline/hierarchy.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string>
#include <utility>

#include <epsflow/core/box_fit.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/core/memory.hpp>
#include <epsflow/core/parallel.hpp>
#include <epsflow/index/nearest.hpp>
#include <epsflow/pipeline/reporter.hpp>
#include <epsflow/pipeline/session.hpp>
#include <epsflow/trees/boruvka.hpp>

namespace epsflow {
namespace {

constexpr std::size_t kTreePiece = 1 << 13;
/// The sizes of a call that makes one result from each tree, and does not use the size.
constexpr std::array<std::uint64_t, 1> kNoSize{};

void check_minpts(std::span<const std::uint32_t> minpts, const WholeWeights& weights) {
  if (weights.negative()) {
    throw UsageError(
        "some weights are below 0, with which points may cease to be core: a hierarchy takes weights from 0 on");
  }
  const std::string sum = format_number(weights.weight_of(weights.total()));
  if (weights.total() < weights.least_sum(1)) {
    throw UsageError("the weights of all points sum to " + sum +
                     ", and no point is core below 1: multiply the weights by one factor");
  }
  for (const std::uint32_t m : minpts) {
    if (m >= 1 && weights.total() >= weights.least_sum(m)) continue;
    throw UsageError("minpts is " + format_count(m) + ", and the weights of all points sum to " + sum +
                     ": use a number from 1 to this sum");
  }
}

void check_minpts(std::span<const std::uint32_t> minpts, std::size_t n) {
  for (const std::uint32_t m : minpts) {
    if (m >= 1 && m <= n) continue;
    throw UsageError("minpts is " + format_count(m) + ", of " + format_count(n, "point") +
                     ": use a number from 1 to the number of points");
  }
}

/// Converts heights from sums to eps.
void convert(SpanningTree& tree, const Metric& metric, const Space& space, const CancelToken& cancel) {
  parallel_ranges(tree.core.size(), kTreePiece, [&](std::size_t begin, std::size_t end) {
    cancel.check();
    for (std::size_t i = begin; i < end; ++i) {
      tree.core[i] = least_eps(metric, space, tree.core[i]);
      if (i < tree.edges.size()) tree.edges[i].height = least_eps(metric, space, tree.edges[i].height);
    }
  });
}

/// A call of a function that makes trees.
struct TreeCall {
  const PointSet& set;
  std::span<const std::uint32_t> minpts;
  const EngineOptions& engine;
  const Observer& observer;
  const char* name;
  std::uint64_t held = 0;  ///< bytes that it takes from the budget for each tree
  /// The smallest sizes of clusters, for each of which it makes a result from each tree.
  std::span<const std::uint64_t> sizes = kNoSize;
};

/// Makes the trees of all minpts, and calls on_device(tree, size) or on_host(tree, size) for each tree and size. Counts
/// each of these calls as a variant that is done.
void make_each_tree(const TreeCall& call, const std::function<void(HeldTree&, std::uint64_t)>& on_device,
                    const std::function<void(Hierarchy&, std::uint64_t)>& on_host) {
  const std::size_t n = call.set.size();
  if (n == 0) throw UsageError("there are no points: a hierarchy needs at least one");
  const LoadedSet loaded(call.set, call.engine, {}, call.observer);
  Session session(loaded.data(), {}, call.observer);
  session.require_one_slice(call.name);
  const WholeWeights* const weights = whole_of(session.weights());
  if (weights != nullptr) {
    check_minpts(call.minpts, *weights);
  } else {
    check_minpts(call.minpts, n);
  }
  const LoadedPoints& points = session.points();
  const MemoryCharge one(session.budget(), call.held, "a hierarchy");
  Reporter reporter(call.observer, call.minpts.size() * call.sizes.size());
  session.on_threads([&] {
    const auto take = [&](SpanningTree&& tree) {
      convert(tree, session.metric(), points.space(), session.stop());
      Hierarchy made(std::move(tree), session.stop());
      for (const std::uint64_t size : call.sizes) reporter.done([&] { on_host(made, size); });
    };
    const bool as_eps = session.metric().kind == MetricKind::euclidean;
    const auto take_held = [&](HeldTree& tree) {
      if (as_eps) {
        for (const std::uint64_t size : call.sizes) reporter.done([&] { on_device(tree, size); });
        return;
      }
      const MemoryCharge memory(session.budget(), trees::hierarchy_bytes(n), "the hierarchy");
      take(tree.spanning_tree());
    };
    if (weights == nullptr && points.make_trees(call.minpts, as_eps, session.stop(), take_held)) return;
    std::uint64_t bytes = trees::spanning_trees_bytes(n, points.dims(), call.minpts, weights);
    if (weights != nullptr && !call.minpts.empty()) {
      bytes +=
          index::weighted_bytes(weights->units(), weights->least_sum(std::ranges::max(call.minpts)), session.threads());
    }
    const MemoryCharge memory(session.budget(), bytes, "the search of spanning trees");
    trees::spanning_trees(points.host(), points.space(), call.minpts, session.stop(), take, weights);
  });
}

}  // namespace

std::vector<Hierarchy> hierarchy(const PointSet& set, std::span<const std::uint32_t> minpts,
                                 const EngineOptions& engine, const Observer& observer) {
  std::vector<Hierarchy> found;
  make_each_tree(
      {set, minpts, engine, observer, "hierarchy()"},
      [&](HeldTree& tree, std::uint64_t) { found.emplace_back(tree.spanning_tree(), tree.nodes()); },
      [&](Hierarchy& tree, std::uint64_t) { found.push_back(std::move(tree)); });
  return found;
}

void each_hierarchy(const PointSet& set, std::span<const std::uint32_t> minpts,
                    const std::function<void(Hierarchy&&)>& take, const EngineOptions& engine,
                    const Observer& observer) {
  constexpr std::uint64_t kRow = sizeof(double) + sizeof(Edge) + sizeof(TreeNode) + sizeof(std::uint32_t);
  make_each_tree(
      {set, minpts, engine, observer, "each_hierarchy()", set.size() * kRow + trees::hierarchy_bytes(set.size())},
      [&](HeldTree& tree, std::uint64_t) {
        take({tree.spanning_tree(), tree.nodes()});
      },
      [&](Hierarchy& tree, std::uint64_t) { take(std::move(tree)); });
}

std::vector<CondensedTree> condensed_trees(const PointSet& set, std::span<const std::uint32_t> minpts,
                                           std::span<const std::uint64_t> sizes, const EngineOptions& engine,
                                           const Observer& observer) {
  for (const std::uint64_t size : sizes) check_min_cluster_size(size, set.size());
  const CancelToken cancel(observer.cancel);
  std::vector<CondensedTree> found;
  make_each_tree(
      {set, minpts, engine, observer, "condensed_trees()", 0, sizes},
      [&](HeldTree& tree, std::uint64_t size) { found.emplace_back(tree.condense(size)); },
      [&](Hierarchy& tree, std::uint64_t size) { found.emplace_back(tree, size, cancel); });
  return found;
}

std::vector<SelectedClusters> hdbscan(const PointSet& set, std::span<const std::uint32_t> minpts,
                                      std::span<const std::uint64_t> sizes, const HdbscanOptions& options,
                                      const EngineOptions& engine, const Observer& observer) {
  for (const std::uint64_t size : sizes) check_min_cluster_size(size, set.size());
  check_selection(options.selection);
  const auto choose = [&](std::span<const CondensedCluster> clusters) {
    return choose_clusters(clusters, options.selection);
  };
  const CancelToken cancel(observer.cancel);
  std::vector<SelectedClusters> found;
  make_each_tree(
      {set, minpts, engine, observer, "hdbscan()", 0, sizes},
      [&](HeldTree& tree, std::uint64_t size) { found.push_back(tree.select(size, choose, options.labels)); },
      [&](Hierarchy& tree, std::uint64_t size) {
        found.push_back(CondensedTree(tree, size, cancel).select(options.selection, cancel));
      });
  return found;
}

NewNeighbors new_neighbors(const PointSet& set, const Hierarchy& tree, PointsView queries, const EngineOptions& engine,
                           const Observer& observer) {
  if (set.size() != tree.size()) {
    throw UsageError("there are " + format_count(set.size(), "point") + ", and the hierarchy has " +
                     format_count(tree.size()) + ": give the points that it was made from");
  }
  const LoadedSet loaded(set, engine, {}, observer);
  Session session(loaded.data(), {}, observer);
  session.require_one_slice("new_neighbors()");
  if (session.weights() != nullptr || tree.minpts() > set.size()) {
    throw UsageError("new_neighbors() takes no weights: give points without them, and a hierarchy made without them");
  }
  const LoadedPoints& points = session.points();
  const std::size_t n = set.size(), q = queries.size();
  NewNeighbors found{std::vector<std::uint32_t>(q), std::vector<double>(q)};
  if (q == 0) return found;
  if (queries.dims() != loaded.data().dims()) {
    throw UsageError("the new points have " + format_count(queries.dims(), "dimension") +
                     ", and the points of the hierarchy " + format_count(loaded.data().dims(), "dimension") +
                     ": give both the same columns");
  }
  const MemoryCharge memory(session.budget(),
                            index::nearest_bytes(n, points.dims()) + index::nearest_bytes(q, points.dims()) +
                                q * (points.dims() + 1) * sizeof(double) + q * sizeof(index::MutualNeighbor) +
                                n * sizeof(double),
                            "the search of the new points");
  session.on_threads([&] {
    Points moved(q, points.dims(), Precision::float64);
    transform_all(session.metric(), queries, moved.values<double>().data());
    Buffer<double> core(n);
    parallel_ranges(n, kTreePiece, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        core[i] = largest_sum(session.metric(), points.space(), tree.core_distances()[i]);
      }
    });
    const Buffer<index::MutualNeighbor> lowest =
        index::mutual_neighbors(points.host(), core.span(), tree.minpts() - 1, moved, points.space(), session.stop());
    parallel_ranges(q, kTreePiece, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const double height = lowest[i].height;
        found.ids[i] = lowest[i].id;
        found.eps[i] = std::isinf(height) ? height : least_eps(session.metric(), points.space(), height);
      }
    });
  });
  return found;
}

}  // namespace epsflow
