#include <cuda_runtime.h>

#include <thrust/iterator/counting_iterator.h>
#include <bit>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <cuda/std/iterator>
#include <utility>
#include <vector>

#include <epsflow/core/block_sum.hpp>
#include <epsflow/core/least_passing.hpp>
#include <epsflow/gpu/base/error.hpp>
#include <epsflow/gpu/base/tuning.hpp>
#include <epsflow/gpu/base/with_scratch.hpp>
#include <epsflow/gpu/trees/device_dendrogram.hpp>
#include <epsflow/gpu/trees/tree_threads.cuh>
#include <epsflow/index/distance.hpp>

// From a spanning tree to its dendrogram, at a cost that does not depend on the depth of the dendrogram, after
// PANDORA (Sao, Prokopenko & Lebrun-Grandié, ICPP 2024).
//
// Edges are numbered by height. The parent of a point in the dendrogram is its lowest edge. Edges that are the lowest
// of one of their ends are contracted; others remain, between the contracted points. This is repeated until no edge is
// left. There are at most half as many edges on each level as on the one before.
//
// The edges that remain on a level have the same order in the dendrogram of that level as in the whole one. So an edge
// that was contracted has a place above the contracted point that it is in: let this be x, and the lowest remaining
// edge of x be p. If the edge is lower than p, it is between x and p. Otherwise it is above p, and x is replaced by the
// contracted point of the next level. All edges between one x and its p form a chain. In a chain each edge is the
// parent of the next lower one, and p is the parent of the highest. A chain is never empty. The chain of p belongs to a
// higher level.
//
// So sums from the points up to the root are made level by level, within each level by a scan along its chains. Values
// that pass from the root down to the points take the same way back.
//
// Edges of one height are one node, which is named by the highest one, if each is the parent of the next.
//
// Clusters of a condensed tree are found as in trees/condensed_tree.cpp.

namespace epsflow::gpu {
namespace {

constexpr std::uint32_t kNone = ~0U;

/// The input. [device]
struct SortedTree {
  std::uint32_t size = 0;                ///< number of points
  const Edge* edges = nullptr;           ///< [size − 1] with positions
  const std::uint32_t* order = nullptr;  ///< [size] ids
};

/// An edge of a level: its number, and the numbers of its ends on the level.
struct LevelEdge {
  std::uint32_t edge;
  std::uint32_t a;
  std::uint32_t b;
};

/// A level before its contraction. Points of all levels are numbered together, level after level.
struct Level {
  std::uint32_t first = 0;  ///< number of its first point
  std::uint32_t points = 0;
  std::uint32_t edges = 0;
};

/// Arrays of all points of all levels.
struct LevelPoints {
  std::uint32_t* lowest;  ///< the lowest edge of a point; kNone on the last level
  std::uint32_t* within;  ///< the number of the contracted point on the next level
};

__global__ void first_level_kernel(SortedTree tree, LevelEdge* edges) {
  const std::uint64_t i = tree_thread();
  if (i + 1 < tree.size) edges[i] = {static_cast<std::uint32_t>(i), tree.edges[i].a, tree.edges[i].b};
}

__global__ void count_up_kernel(std::uint32_t* values, std::uint32_t count) {
  const std::uint64_t i = tree_thread();
  if (i < count) values[i] = static_cast<std::uint32_t>(i);
}
__global__ void pick_kernel(const double* from, const std::uint32_t* order, std::uint32_t count, double* to) {
  const std::uint64_t i = tree_thread();
  if (i < count) to[i] = from[order[i]];
}
/// Writes the first element of each number of an ascending array without gaps, and the size.
__global__ void cluster_starts_kernel(const std::uint32_t* numbers, std::uint32_t count, std::uint32_t* starts) {
  const std::uint64_t i = tree_thread();
  if (i >= count) return;
  if (i == 0 || numbers[i] != numbers[i - 1]) starts[numbers[i]] = static_cast<std::uint32_t>(i);
  if (i + 1 == count) starts[numbers[i] + 1] = count;
}

__global__ void lowest_edges_kernel(const LevelEdge* edges, std::uint32_t count, std::uint32_t* lowest) {
  const std::uint64_t i = tree_thread();
  if (i >= count) return;
  const auto [edge, a, b] = edges[i];
  if (edge < lowest[a]) atomicMin(lowest + a, edge);
  if (edge < lowest[b]) atomicMin(lowest + b, edge);
}

/// Makes the other end of its lowest edge the parent of each point. If two points have the same lowest edge, the
/// smaller one is a root.
__global__ void contract_kernel(const LevelEdge* edges, std::uint32_t count, const std::uint32_t* lowest,
                                std::uint32_t* parents, char* remains) {
  const std::uint64_t i = tree_thread();
  if (i >= count) return;
  const auto [edge, a, b] = edges[i];
  const bool of_a = lowest[a] == edge, of_b = lowest[b] == edge;
  if (of_a) parents[a] = of_b && a < b ? a : b;
  if (of_b) parents[b] = of_a && b < a ? b : a;
  remains[i] = !of_a && !of_b;
}

__global__ void mark_roots_kernel(const std::uint32_t* parents, std::uint32_t count, std::uint32_t* is_root) {
  const std::uint64_t x = tree_thread();
  if (x < count) is_root[x] = parents[x] == x;
}
/// What contract() reads of a level.
enum Count : std::uint8_t { kLeft, kRoots, kRemaining, kCounts };

__global__ void find_roots_kernel(std::uint32_t* parents, std::uint32_t count, const std::uint32_t* roots_before,
                                  std::uint32_t* counts) {
  const std::uint64_t x = tree_thread();
  if (x == 0) counts[kRoots] = roots_before[count];
  if (x < count && !move_to_root(parents, static_cast<std::uint32_t>(x))) counts[kLeft] = 1;
}

/// Numbers the contracted points.
__global__ void number_points_kernel(const std::uint32_t* parents, const std::uint32_t* roots_before,
                                     std::uint32_t count, std::uint32_t first, std::uint32_t* within) {
  const std::uint64_t x = tree_thread();
  if (x < count) within[x] = first + roots_before[parents[x]];
}

__global__ void next_level_kernel(LevelEdge* edges, std::uint32_t count, std::uint32_t first,
                                  const std::uint32_t* within, std::uint32_t next_first) {
  const std::uint64_t i = tree_thread();
  if (i >= count) return;
  LevelEdge& edge = edges[i];
  edge.a = within[first + edge.a] - next_first;
  edge.b = within[first + edge.b] - next_first;
}

/// Finds the chain of each edge: the number of the contracted point below it.
__global__ void chains_kernel(SortedTree tree, LevelPoints points, std::uint32_t* chains, std::uint32_t* edges) {
  const std::uint64_t i = tree_thread();
  if (i + 1 >= tree.size) return;
  const auto edge = static_cast<std::uint32_t>(i);
  // As long as the edge is not contracted, its ends are in different points.
  std::uint32_t a = tree.edges[i].a, b = tree.edges[i].b;
  do {
    a = points.within[a];
    b = points.within[b];
  } while (a != b);
  while (points.lowest[a] < edge) a = points.within[a];
  chains[i] = a;
  edges[i] = edge;
}

/// The dendrogram. Its elements are the edges, in the order of chains, and lowest first in each.
struct Dendrogram {
  SortedTree tree;
  std::uint32_t edges;
  LevelPoints points;
  const std::uint32_t* chains;      ///< [edges] of each element
  const std::uint32_t* edge_of;     ///< [edges] the number of the edge of each element
  const std::uint32_t* element_of;  ///< [edges] the inverse
};

__device__ double height_of(const Dendrogram& all, std::uint32_t element) {
  return all.tree.edges[all.edge_of[element]].height;
}
/// Returns true if an element is the highest of its chain.
__device__ bool ends_chain(const Dendrogram& all, std::uint32_t element) {
  return element + 1 == all.edges || all.chains[element + 1] != all.chains[element];
}
/// Returns the parent of an element, kNone for the root.
__device__ std::uint32_t parent_of(const Dendrogram& all, std::uint32_t element) {
  if (!ends_chain(all, element)) return element + 1;
  const std::uint32_t edge = all.points.lowest[all.chains[element]];
  return edge == kNone ? kNone : all.element_of[edge];
}

__global__ void invert_kernel(const std::uint32_t* edge_of, std::uint32_t count, std::uint32_t* element_of) {
  const std::uint64_t i = tree_thread();
  if (i < count) element_of[edge_of[i]] = static_cast<std::uint32_t>(i);
}

struct AddBelow {
  __device__ PointsBelow operator()(const PointsBelow& a, const PointsBelow& b) const {
    return {a.size + b.size, a.first_id < b.first_id ? a.first_id : b.first_id};
  }
};

__device__ void add_below(PointsBelow* below, std::uint32_t element, const PointsBelow& more) {
  atomicAdd(&below[element].size, more.size);
  atomicMin(&below[element].first_id, more.first_id);
}

__global__ void start_below_kernel(PointsBelow* below, std::uint32_t count) {
  const std::uint64_t i = tree_thread();
  if (i < count) below[i] = {0, kNone};
}
__global__ void add_points_kernel(Dendrogram all, PointsBelow* below) {
  const std::uint64_t p = tree_thread();
  if (p < all.tree.size) {
    add_below(below, all.element_of[all.points.lowest[p]], {1, all.tree.order[p]});
  }
}
/// Adds the chains of the elements [first, last) to their parents on higher levels.
__global__ void add_chains_kernel(Dendrogram all, std::uint32_t first, std::uint32_t last, PointsBelow* below) {
  const std::uint64_t i = first + tree_thread();
  if (i >= last) return;
  const auto element = static_cast<std::uint32_t>(i);
  if (!ends_chain(all, element)) return;
  if (const std::uint32_t parent = parent_of(all, element); parent != kNone) add_below(below, parent, below[i]);
}

/// The element of the node that an element belongs to; kNone as long as that is the one of its parent.
__global__ void start_tops_kernel(Dendrogram all, std::uint32_t* tops) {
  const std::uint64_t i = tree_thread();
  if (i >= all.edges) return;
  const auto element = static_cast<std::uint32_t>(i);
  const std::uint32_t parent = parent_of(all, element);
  tops[i] = parent != kNone && height_of(all, parent) == height_of(all, element) ? kNone : element;
}
__global__ void take_from_parents_kernel(Dendrogram all, std::uint32_t first, std::uint32_t last, std::uint32_t* tops) {
  const std::uint64_t i = first + tree_thread();
  if (i >= last || tops[i] != kNone) return;
  const auto element = static_cast<std::uint32_t>(i);
  if (ends_chain(all, element)) tops[i] = tops[parent_of(all, element)];
}
struct Same {
  __device__ bool operator()(std::uint32_t a, std::uint32_t b) const { return a == b; }
};
struct LastKnown {
  __device__ std::uint32_t operator()(std::uint32_t before, std::uint32_t own) const {
    return own != kNone ? own : before;
  }
};

/// Marks the edges whose elements are nodes.
__global__ void mark_nodes_kernel(Dendrogram all, const std::uint32_t* tops, char* is_node) {
  const std::uint64_t edge = tree_thread();
  if (edge < all.edges) is_node[edge] = tops[all.element_of[edge]] == all.element_of[edge];
}
/// Marks the nodes whose eps differs from the one before.
__global__ void mark_heights_kernel(Dendrogram all, const std::uint32_t* nodes, std::uint32_t count,
                                    std::uint32_t* differs) {
  const std::uint64_t i = tree_thread();
  if (i >= count) return;
  differs[i] = i > 0 && all.tree.edges[nodes[i - 1]].height != all.tree.edges[nodes[i]].height;
}
__global__ void node_keys_kernel(Dendrogram all, const std::uint32_t* nodes, std::uint32_t count,
                                 const std::uint32_t* ranks, const PointsBelow* below, std::uint64_t* keys) {
  const std::uint64_t i = tree_thread();
  if (i >= count) return;
  keys[i] = std::uint64_t{ranks[i]} << 32 | below[all.element_of[nodes[i]]].first_id;
}
__global__ void number_nodes_kernel(Dendrogram all, const std::uint32_t* nodes, std::uint32_t count,
                                    std::uint32_t* numbers) {
  const std::uint64_t i = tree_thread();
  if (i < count) numbers[all.element_of[nodes[i]]] = static_cast<std::uint32_t>(i);
}
__global__ void write_nodes_kernel(Dendrogram all, const std::uint32_t* nodes, std::uint32_t count,
                                   const std::uint32_t* numbers, const std::uint32_t* tops, const PointsBelow* below,
                                   TreeNode* to) {
  const std::uint64_t i = tree_thread();
  if (i >= count) return;
  const std::uint32_t element = all.element_of[nodes[i]];
  const std::uint32_t parent = parent_of(all, element);
  to[i] = {all.tree.edges[nodes[i]].height, parent == kNone ? kNone : numbers[tops[parent]], below[element].size,
           below[element].first_id};
}
__global__ void write_parents_kernel(Dendrogram all, const std::uint32_t* numbers, const std::uint32_t* tops,
                                     std::uint32_t* parents) {
  const std::uint64_t p = tree_thread();
  if (p < all.tree.size) parents[all.tree.order[p]] = numbers[tops[all.element_of[all.points.lowest[p]]]];
}

/// The cluster of an element, and the element of the smallest node with enough points that it is part of. If either is
/// kNone, it is the parent's.
struct Place {
  std::uint32_t cluster;
  std::uint32_t node;
};
struct LastKnownPlace {
  __device__ Place operator()(const Place& before, const Place& own) const {
    return {own.cluster != kNone ? own.cluster : before.cluster, own.node != kNone ? own.node : before.node};
  }
};

/// Returns the node that the node of an element joins, kNone for the root. Nodes are named by their elements.
__device__ std::uint32_t parent_node(const Dendrogram& all, const std::uint32_t* tops, std::uint32_t node) {
  const std::uint32_t parent = parent_of(all, node);
  return parent == kNone ? kNone : tops[parent];
}

/// The nodes with enough points.
struct LargeNodes {
  const std::uint32_t* tops;
  const PointsBelow* below;
  std::uint32_t least;

  __device__ bool has(std::uint32_t element) const { return tops[element] == element && below[element].size >= least; }
};

__global__ void count_large_kernel(Dendrogram all, LargeNodes large, std::uint32_t* children) {
  const std::uint64_t i = tree_thread();
  if (i >= all.edges || !large.has(static_cast<std::uint32_t>(i))) return;
  const std::uint32_t parent = parent_node(all, large.tops, static_cast<std::uint32_t>(i));
  if (parent != kNone) atomicAdd(children + parent, 1U);
}
/// Marks the nodes at which clusters begin.
__global__ void mark_begins_kernel(Dendrogram all, LargeNodes large, const std::uint32_t* children, char* begins) {
  const std::uint64_t i = tree_thread();
  if (i >= all.edges) return;
  begins[i] = 0;
  if (!large.has(static_cast<std::uint32_t>(i))) return;
  const std::uint32_t parent = parent_node(all, large.tops, static_cast<std::uint32_t>(i));
  begins[i] = parent == kNone || children[parent] > 1;
}
/// Counts the points that leave at each large node: all that are not in its only large child.
__global__ void count_leaving_kernel(Dendrogram all, LargeNodes large, const std::uint32_t* children,
                                     std::uint32_t* leaving) {
  const std::uint64_t i = tree_thread();
  if (i >= all.edges || !large.has(static_cast<std::uint32_t>(i))) return;
  atomicAdd(leaving + i, large.below[i].size);
  const std::uint32_t parent = parent_node(all, large.tops, static_cast<std::uint32_t>(i));
  if (parent != kNone && children[parent] == 1) atomicSub(leaving + parent, large.below[i].size);
}
__global__ void first_ids_kernel(const PointsBelow* below, const std::uint32_t* begins, std::uint32_t count,
                                 std::uint32_t* first_ids) {
  const std::uint64_t i = tree_thread();
  if (i < count) first_ids[i] = below[begins[i]].first_id;
}
/// Returns the bits of a number that is not negative; they have the order of such numbers.
__device__ unsigned long long bits_of_eps(double eps) {
  return static_cast<unsigned long long>(__double_as_longlong(eps));
}
__device__ double birth_of(const Dendrogram& all, std::uint32_t begin) {
  const std::uint32_t parent = parent_of(all, begin);
  return parent == kNone ? __builtin_huge_val() : height_of(all, parent);
}
__global__ void birth_keys_kernel(Dendrogram all, const std::uint32_t* begins, std::uint32_t count,
                                  std::uint64_t* keys) {
  const std::uint64_t i = tree_thread();
  if (i < count) keys[i] = ~bits_of_eps(birth_of(all, begins[i]));
}
__global__ void start_places_kernel(LargeNodes large, std::uint32_t edges, Place* places) {
  const std::uint64_t i = tree_thread();
  if (i < edges) places[i] = {kNone, large.below[i].size >= large.least ? large.tops[i] : kNone};
}
__global__ void number_clusters_kernel(const std::uint32_t* begins, std::uint32_t count, Place* places) {
  const std::uint64_t i = tree_thread();
  if (i < count) places[begins[i]].cluster = static_cast<std::uint32_t>(i);
}
__global__ void take_places_kernel(Dendrogram all, std::uint32_t first, std::uint32_t last, Place* places) {
  const std::uint64_t i = first + tree_thread();
  if (i >= last) return;
  const auto element = static_cast<std::uint32_t>(i);
  if (!ends_chain(all, element)) return;
  const std::uint32_t parent = parent_of(all, element);
  if (parent != kNone) places[i] = LastKnownPlace{}(places[parent], places[i]);
}
__global__ void write_clusters_kernel(Dendrogram all, const PointsBelow* below, const Place* places,
                                      const std::uint32_t* begins, std::uint32_t count, CondensedCluster* clusters) {
  const std::uint64_t i = tree_thread();
  if (i >= count) return;
  const std::uint32_t begin = begins[i], parent = parent_of(all, begin);
  clusters[i] = {parent == kNone ? kNone : places[parent].cluster,
                 birth_of(all, begin),
                 __builtin_huge_val(),
                 below[begin].size,
                 below[begin].first_id,
                 0};
}
/// Marks large nodes by their edges, so that they can be listed in ascending order of eps.
__global__ void mark_large_kernel(Dendrogram all, LargeNodes large, char* is_large) {
  const std::uint64_t edge = tree_thread();
  if (edge < all.edges) is_large[edge] = large.has(all.element_of[edge]);
}
__device__ double density(double eps) { return eps > 0 ? __drcp_rn(eps) : __builtin_huge_val(); }
/// Finds the cluster of each large node, and the node's share of its stability. Lowers the cluster's death.
__global__ void stabilities_kernel(Dendrogram all, const Place* places, const std::uint32_t* leaving,
                                   const std::uint32_t* nodes, std::uint32_t count, CondensedCluster* clusters,
                                   std::uint32_t* cluster_of, double* adds) {
  const std::uint64_t i = tree_thread();
  if (i >= count) return;
  const std::uint32_t element = all.element_of[nodes[i]];
  CondensedCluster& cluster = clusters[places[element].cluster];
  const double eps = all.tree.edges[nodes[i]].height;
  atomicMin(reinterpret_cast<unsigned long long*>(&cluster.death), bits_of_eps(eps));
  const double since = density(cluster.birth);
  cluster_of[i] = places[element].cluster;
  adds[i] = 0;
  if (since < __builtin_huge_val()) {
    adds[i] = __dmul_rn(__dsub_rn(density(eps), since), static_cast<double>(leaving[element]));
  }
}
/// Adds up blocks of the values of each cluster, as BlockSum does. starts, sums_from: the first value and sum of each.
__global__ void add_blocks_kernel(const double* values, const std::uint32_t* starts, const std::uint32_t* sums_from,
                                  std::uint32_t clusters, std::uint32_t count, double* sums) {
  const std::uint64_t i = tree_thread();
  if (i >= count) return;
  std::uint32_t lo = 0, hi = clusters;  // sums_from[lo] <= i < sums_from[hi]
  while (hi - lo > 1) {
    const std::uint32_t middle = lo + (hi - lo) / 2;
    (sums_from[middle] <= i ? lo : hi) = middle;
  }
  const std::uint64_t first = starts[lo] + (i - sums_from[lo]) * BlockSum::kBlock;
  double sum = 0;
  for (std::uint64_t at = first; at < min(first + BlockSum::kBlock, std::uint64_t{starts[lo + 1]}); ++at) {
    sum = __dadd_rn(sum, values[at]);
  }
  sums[i] = sum;
}
__global__ void count_blocks_kernel(const std::uint32_t* starts, std::uint32_t clusters, std::uint32_t* counts) {
  const std::uint64_t i = tree_thread();
  if (i < clusters) counts[i] = (starts[i + 1] - starts[i] + BlockSum::kBlock - 1) / BlockSum::kBlock;
}
__global__ void write_stabilities_kernel(const double* sums, std::uint32_t count, CondensedCluster* clusters) {
  const std::uint64_t i = tree_thread();
  if (i < count) clusters[i].stability = sums[i];
}
__global__ void write_leaves_kernel(Dendrogram all, const Place* places, std::uint32_t* cluster_of, double* leaves_at) {
  const std::uint64_t p = tree_thread();
  if (p >= all.tree.size) return;
  const std::uint32_t id = all.tree.order[p];
  const Place place = places[all.element_of[all.points.lowest[p]]];
  cluster_of[id] = place.cluster;
  leaves_at[id] = height_of(all, place.node);
}

/// Writes starts[i] = the first element whose chain is not below firsts[i].
__global__ void starts_kernel(const std::uint32_t* chains, std::uint32_t count, const std::uint32_t* firsts,
                              std::uint32_t levels, std::uint32_t* starts) {
  const std::uint64_t level = tree_thread();
  if (level >= levels) return;
  const std::uint32_t first = firsts[level];
  std::uint32_t lo = 0, hi = count;
  while (lo < hi) {
    const std::uint32_t middle = lo + (hi - lo) / 2;
    if (chains[middle] < first) {
      lo = middle + 1;
    } else {
      hi = middle;
    }
  }
  starts[level] = lo;
}

__global__ void sums_to_eps_kernel(Edge* edges, double* core, std::uint32_t size) {
  const std::uint64_t i = tree_thread();
  if (i >= size) return;
  const auto eps_of = [](double sum) {
    if (sum == 0) return 0.0;
    const auto estimate = static_cast<std::uint64_t>(__double_as_longlong(__dsqrt_rn(sum)));
    return __longlong_as_double(static_cast<long long>(least_passing(estimate, [sum](std::uint64_t bits) {
      const double eps = __longlong_as_double(static_cast<long long>(bits));
      return index::rounded_product(eps, eps) >= sum;
    })));
  };
  core[i] = eps_of(core[i]);
  if (i + 1 < size) edges[i].height = eps_of(edges[i].height);
}

__global__ void name_by_id_kernel(const Edge* edges, const std::uint32_t* order, std::uint64_t count, Edge* named) {
  const std::uint64_t i = tree_thread();
  if (i < count) named[i] = {edges[i].height, order[edges[i].a], order[edges[i].b]};
}

}  // namespace

/// Launches the kernels.
struct DeviceDendrogram::Kernels {
  const DeviceDendrogram& of;

  [[nodiscard]] cudaStream_t stream() const noexcept { return of.scratch_.stream; }
  template <class T>
  [[nodiscard]] DeviceBuffer<T> buffer(std::uint64_t size) const {
    return DeviceBuffer<T>(of.scratch_.memory, stream(), size);
  }
  template <class T>
  [[nodiscard]] DeviceBuffer<T> zeros(std::uint64_t size) const {
    DeviceBuffer<T> values = buffer<T>(size);
    check(cudaMemsetAsync(values.data(), 0, values.bytes(), stream()));
    return values;
  }
  /// Launches one thread for each of `count` items.
  template <class Kernel, class... Arguments>
  void each(Kernel kernel, std::uint64_t count, Arguments... arguments) const {
    if (count == 0) return;
    kernel<<<tree_blocks(count), tuning::kTreeThreads, 0, stream()>>>(arguments...);
    check_launch(stream());
  }
  template <class F>
  void cub(F&& call) const {
    with_scratch(of.scratch_, call);
  }
  /// Returns the numbers of the marked items, in ascending order.
  [[nodiscard]] std::pair<DeviceBuffer<std::uint32_t>, std::uint32_t> marked(const char* marks,
                                                                             std::uint64_t count) const {
    auto numbers = buffer<std::uint32_t>(count);
    const auto found = buffer<std::uint32_t>(1);
    cub([&](void* temporary, std::size_t& bytes) {
      return cub::DeviceSelect::Flagged(temporary, bytes, thrust::counting_iterator<std::uint32_t>(0), marks,
                                        numbers.data(), found.data(), static_cast<std::int64_t>(count), stream());
    });
    const std::uint32_t size = read_values(found.data(), 1, stream()).front();
    return {std::move(numbers), size};
  }
  /// Sorts values by keys of `bits` bits, keeping the order of equal keys.
  template <class Key>
  void sort(DeviceBuffer<Key>& keys, DeviceBuffer<std::uint32_t>& values, std::uint64_t count, int bits) const {
    if (count == 0) return;
    auto other_keys = buffer<Key>(count);
    auto other_values = buffer<std::uint32_t>(count);
    TwoBuffers<Key> sorted_keys{keys.data(), other_keys.data()};
    TwoBuffers<std::uint32_t> sorted{values.data(), other_values.data()};
    launch_sort(sorted_keys, sorted, count, bits, of.scratch_);
    if (sorted_keys.current != keys.data()) std::swap(keys, other_keys);
    if (sorted.current != values.data()) std::swap(values, other_values);
  }

  [[nodiscard]] Dendrogram view() const {
    return {{of.size_, of.edges_of_tree_, of.order_},
            of.edges_,
            {of.lowest_.data(), of.within_.data()},
            of.chains_.data(),
            of.edge_of_.data(),
            of.element_of_.data()};
  }

  /// Makes the levels. Returns the number of the first point of each.
  [[nodiscard]] std::vector<std::uint32_t> contract() const {
    auto edges = buffer<LevelEdge>(of.edges_), others = buffer<LevelEdge>(of.edges_);
    const auto parents = buffer<std::uint32_t>(of.size_), roots_before = buffer<std::uint32_t>(of.size_ + 1);
    const auto remains = buffer<char>(of.edges_);
    const auto counts = buffer<std::uint32_t>(kCounts);
    std::vector<std::uint32_t> firsts;
    each(first_level_kernel, of.edges_, SortedTree{of.size_, of.edges_of_tree_, of.order_}, edges.data());
    check(cudaMemsetAsync(of.lowest_.data(), 0xFF, of.lowest_.bytes(), stream()));  // kNone
    for (Level level{0, of.size_, of.edges_}; level.edges > 0;) {
      firsts.push_back(level.first);
      std::uint32_t* const lowest = of.lowest_.data() + level.first;
      each(lowest_edges_kernel, level.edges, edges.data(), level.edges, lowest);
      each(contract_kernel, level.edges, edges.data(), level.edges, lowest, parents.data(), remains.data());
      each(mark_roots_kernel, level.points, parents.data(), level.points, roots_before.data());
      cub([&](void* temporary, std::size_t& bytes) {
        return cub::DeviceScan::ExclusiveSum(temporary, bytes, roots_before.data(), roots_before.data(),
                                             static_cast<std::int64_t>(level.points) + 1, stream());
      });
      cub([&](void* temporary, std::size_t& bytes) {
        return cub::DeviceSelect::Flagged(temporary, bytes, edges.data(), remains.data(), others.data(),
                                          counts.data() + kRemaining, static_cast<std::int64_t>(level.edges), stream());
      });
      Level next{level.first + level.points, 0, 0};
      bool left = true;
      while (left) {
        check(cudaMemsetAsync(counts.data() + kLeft, 0, sizeof(std::uint32_t), stream()));
        each(find_roots_kernel, level.points, parents.data(), level.points, roots_before.data(), counts.data());
        const std::vector<std::uint32_t> read = read_values(counts.data(), kCounts, stream());
        left = read[kLeft] > 0;
        next.points = read[kRoots];
        next.edges = read[kRemaining];
      }
      each(number_points_kernel, level.points, parents.data(), roots_before.data(), level.points, next.first,
           of.within_.data() + level.first);
      each(next_level_kernel, next.edges, others.data(), next.edges, level.first, of.within_.data(), next.first);
      std::swap(edges, others);
      level = next;
      if (level.edges == 0) firsts.push_back(level.first);
    }
    return firsts;
  }

  /// Returns the first element of each level, and the number of elements.
  [[nodiscard]] std::vector<std::uint32_t> find_starts() const {
    const auto firsts = copy_of(std::span<const std::uint32_t>(of.firsts_), of.scratch_.memory, stream());
    const auto starts = buffer<std::uint32_t>(of.firsts_.size());
    each(starts_kernel, of.firsts_.size(), of.chains_.data(), of.edges_, firsts.data(),
         static_cast<std::uint32_t>(of.firsts_.size()), starts.data());
    std::vector<std::uint32_t> found = read_values(starts.data(), of.firsts_.size(), stream());
    found.push_back(of.edges_);
    return found;
  }

  /// Calls f(first, last) for the elements of each level, from low levels to high ones. The first level has none.
  template <class F>
  void upwards(F f) const {
    for (std::size_t level = 1; level < of.firsts_.size(); ++level) {
      if (of.starts_[level] < of.starts_[level + 1]) f(of.starts_[level], of.starts_[level + 1]);
    }
  }
  /// Lets each element take values from its parent. take: the kernel for the highest elements of chains.
  template <class T, class Last>
  void downwards(T* values, Last last_known, void (*take)(Dendrogram, std::uint32_t, std::uint32_t, T*)) const {
    for (std::size_t level = of.firsts_.size(); level-- > 1;) {
      const std::uint32_t first = of.starts_[level], last = of.starts_[level + 1];
      if (first == last) continue;
      each(take, last - first, view(), first, last, values);
      const auto keys = ::cuda::std::make_reverse_iterator(of.chains_.data() + last);
      const auto reversed = ::cuda::std::make_reverse_iterator(values + last);
      cub([&](void* temporary, std::size_t& bytes) {
        return cub::DeviceScan::InclusiveScanByKey(temporary, bytes, keys, reversed, reversed, last_known, last - first,
                                                   Same{}, stream());
      });
    }
  }

  /// Counts the points below each element.
  void go_up() const {
    PointsBelow* const below = of.below_.data();
    each(start_below_kernel, of.edges_, below, of.edges_);
    each(add_points_kernel, of.size_, view(), below);
    upwards([&](std::uint32_t first, std::uint32_t last) {
      cub([&](void* temporary, std::size_t& bytes) {
        return cub::DeviceScan::InclusiveScanByKey(temporary, bytes, of.chains_.data() + first, below + first,
                                                   below + first, AddBelow{}, last - first, Same{}, stream());
      });
      each(add_chains_kernel, last - first, view(), first, last, below);
    });
  }

  /// Returns the nodes at which clusters begin, in the order of the clusters.
  [[nodiscard]] std::pair<DeviceBuffer<std::uint32_t>, std::uint32_t> find_begins(const LargeNodes& large,
                                                                                  const std::uint32_t* children) const {
    const auto marks = buffer<char>(of.edges_);
    each(mark_begins_kernel, of.edges_, view(), large, children, marks.data());
    auto [begins, count] = marked(marks.data(), of.edges_);
    auto first_ids = buffer<std::uint32_t>(count);
    each(first_ids_kernel, count, of.below_.data(), begins.data(), count, first_ids.data());
    sort(first_ids, begins, count, 32);
    auto births = buffer<std::uint64_t>(count);
    each(birth_keys_kernel, count, view(), begins.data(), count, births.data());
    sort(births, begins, count, 64);
    return {std::move(begins), count};
  }

  /// Adds up the stabilities, and finds the deaths.
  void measure(const LargeNodes& large, const std::uint32_t* children, const Place* places, CondensedCluster* clusters,
               std::uint32_t count) const {
    const auto leaving = zeros<std::uint32_t>(of.edges_);
    each(count_leaving_kernel, of.edges_, view(), large, children, leaving.data());
    const auto marks = buffer<char>(of.edges_);
    each(mark_large_kernel, of.edges_, view(), large, marks.data());
    const auto [nodes, large_count] = marked(marks.data(), of.edges_);
    auto cluster_of = buffer<std::uint32_t>(large_count), order = buffer<std::uint32_t>(large_count);
    auto adds = buffer<double>(large_count);
    each(stabilities_kernel, large_count, view(), places, leaving.data(), nodes.data(), large_count, clusters,
         cluster_of.data(), adds.data());
    each(count_up_kernel, large_count, order.data(), large_count);
    sort(cluster_of, order, large_count, std::bit_width(count));
    auto values = buffer<double>(large_count);
    each(pick_kernel, large_count, adds.data(), order.data(), large_count, values.data());
    // The first value of each cluster. Each has at least one.
    auto starts = buffer<std::uint32_t>(count + 1);
    each(cluster_starts_kernel, large_count, cluster_of.data(), large_count, starts.data());
    std::uint32_t left = large_count;
    do {
      auto sums_from = zeros<std::uint32_t>(count + 1);
      each(count_blocks_kernel, count, starts.data(), count, sums_from.data());
      cub([&](void* temporary, std::size_t& bytes) {
        return cub::DeviceScan::ExclusiveSum(temporary, bytes, sums_from.data(), sums_from.data(),
                                             static_cast<std::int64_t>(count) + 1, stream());
      });
      left = read_values(sums_from.data() + count, 1, stream()).front();
      auto sums = buffer<double>(left);
      each(add_blocks_kernel, left, values.data(), starts.data(), sums_from.data(), count, left, sums.data());
      std::swap(values, sums);
      std::swap(starts, sums_from);
    } while (left > count);
    each(write_stabilities_kernel, count, values.data(), count, clusters);
  }
};

DeviceDendrogram::DeviceDendrogram(const DeviceTree& tree, const std::uint32_t* order, Scratch scratch)
    : scratch_(scratch),
      size_(static_cast<std::uint32_t>(tree.core.size())),
      edges_of_tree_(tree.edges.data()),
      order_(order),
      edges_(size_ - 1) {
  const Kernels run{*this};
  lowest_ = run.buffer<std::uint32_t>(2 * std::uint64_t{size_});
  within_ = run.buffer<std::uint32_t>(2 * std::uint64_t{size_});
  chains_ = run.buffer<std::uint32_t>(edges_);
  edge_of_ = run.buffer<std::uint32_t>(edges_);
  element_of_ = run.buffer<std::uint32_t>(edges_);
  below_ = run.buffer<PointsBelow>(edges_);
  tops_ = run.buffer<std::uint32_t>(edges_);
  firsts_ = run.contract();
  run.each(chains_kernel, edges_, run.view().tree, run.view().points, chains_.data(), edge_of_.data());
  run.sort(chains_, edge_of_, edges_, std::bit_width(firsts_.back()));
  run.each(invert_kernel, edges_, edge_of_.data(), edges_, element_of_.data());
  starts_ = run.find_starts();
  run.go_up();
  run.each(start_tops_kernel, edges_, run.view(), tops_.data());
  run.downwards(tops_.data(), LastKnown{}, take_from_parents_kernel);
}

DeviceNodes DeviceDendrogram::nodes() const {
  const Kernels run{*this};
  const Dendrogram all = run.view();
  const auto marks = run.buffer<char>(edges_);
  run.each(mark_nodes_kernel, edges_, all, tops_.data(), marks.data());
  auto [nodes, count] = run.marked(marks.data(), edges_);
  DeviceNodes found{run.buffer<TreeNode>(count), count, run.buffer<std::uint32_t>(size_)};
  // Of one eps, nodes are in the order of their first ids.
  const auto numbers = run.buffer<std::uint32_t>(edges_);
  run.each(mark_heights_kernel, count, all, nodes.data(), count, numbers.data());
  run.cub([&, size = static_cast<std::int64_t>(count)](void* temporary, std::size_t& bytes) {
    return cub::DeviceScan::InclusiveSum(temporary, bytes, numbers.data(), numbers.data(), size, scratch_.stream);
  });
  auto keys = run.buffer<std::uint64_t>(count);
  run.each(node_keys_kernel, count, all, nodes.data(), count, numbers.data(), below_.data(), keys.data());
  run.sort(keys, nodes, count, 64);
  run.each(number_nodes_kernel, count, all, nodes.data(), count, numbers.data());
  run.each(write_nodes_kernel, count, all, nodes.data(), count, numbers.data(), tops_.data(), below_.data(),
           found.nodes.data());
  run.each(write_parents_kernel, size_, all, numbers.data(), tops_.data(), found.parents.data());
  return found;
}

DeviceCondensed DeviceDendrogram::condense(std::uint64_t min_cluster_size) const {
  const Kernels run{*this};
  const Dendrogram all = run.view();
  const LargeNodes large{tops_.data(), below_.data(), static_cast<std::uint32_t>(min_cluster_size)};
  const auto children = run.zeros<std::uint32_t>(edges_);
  run.each(count_large_kernel, edges_, all, large, children.data());
  const auto [begins, count] = run.find_begins(large, children.data());

  const auto places = run.buffer<Place>(edges_);
  run.each(start_places_kernel, edges_, large, edges_, places.data());
  run.each(number_clusters_kernel, count, begins.data(), count, places.data());
  run.downwards(places.data(), LastKnownPlace{}, take_places_kernel);

  const auto clusters = run.buffer<CondensedCluster>(count);
  run.each(write_clusters_kernel, count, all, below_.data(), places.data(), begins.data(), count, clusters.data());
  run.measure(large, children.data(), places.data(), clusters.data(), count);
  DeviceCondensed found{{}, run.buffer<std::uint32_t>(size_), run.buffer<double>(size_)};
  run.each(write_leaves_kernel, size_, all, places.data(), found.cluster_of.data(), found.leaves_at.data());
  found.clusters = read_values(clusters.data(), count, scratch_.stream);
  return found;
}

void launch_sums_to_eps(Edge* edges, double* core, std::uint32_t size, cudaStream_t stream) {
  sums_to_eps_kernel<<<tree_blocks(size), tuning::kTreeThreads, 0, stream>>>(edges, core, size);
  check_launch(stream);
}

void launch_name_by_id(const Edge* edges, const std::uint32_t* order, std::uint64_t count, Edge* named,
                       cudaStream_t stream) {
  if (count == 0) return;
  name_by_id_kernel<<<tree_blocks(count), tuning::kTreeThreads, 0, stream>>>(edges, order, count, named);
  check_launch(stream);
}

}  // namespace epsflow::gpu
