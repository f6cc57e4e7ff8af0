#include <cuda_runtime.h>

#include <bit>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <utility>
#include <vector>

#include <epsflow/core/least_passing.hpp>
#include <epsflow/gpu/base/error.hpp>
#include <epsflow/gpu/base/tuning.hpp>
#include <epsflow/gpu/trees/dendrogram.cuh>
#include <epsflow/index/distance.hpp>

// From a spanning tree to its dendrogram, at a cost that does not depend on the depth of the dendrogram, after
// PANDORA (Sao, Prokopenko & Lebrun-Grandié, ICPP 2024).
//
// Edges are numbered by height. The parent of a point in the dendrogram is its lowest edge. Edges that are the lowest
// of one of their ends are contracted; others remain, between the contracted points. This is repeated until no edge is
// left. There are at most half as many edges on each level as on the one before.
//
// The edges that remain on a level have the same order in the dendrogram of that level as in the whole one. So an edge
// that was contracted has a position above the contracted point that it is in: let this be x, and the lowest remaining
// edge of x be p. If the edge is lower than p, it is between x and p. Otherwise it is above p, and x is replaced by the
// contracted point of the next level. All edges between one x and its p form a chain. In a chain each edge is the
// parent of the next lower one, and p is the parent of the highest. A chain is never empty. The chain of p belongs to a
// higher level.
//
// So sums from the points up to the root are made level by level, within each level by a scan along its chains. Values
// that pass from the root down to the points take the same way back.
//
// Edges of one height are one node, which is named by the highest one, if each is the parent of the next.

namespace epsflow::gpu {
namespace {

/// An edge of a level: its number, and the numbers of its ends on the level.
struct LevelEdge {
  std::uint32_t edge;
  std::uint32_t a;
  std::uint32_t b;
};

/// A level before its contraction. Points of all levels are numbered together, level after level.
struct ContractionLevel {
  std::uint32_t first = 0;  ///< number of its first point
  std::uint32_t points = 0;
  std::uint32_t edges = 0;
};

__global__ void first_level_kernel(SortedTree tree, LevelEdge* edges) {
  const std::uint64_t i = tree_thread();
  if (i + 1 < tree.size) edges[i] = {static_cast<std::uint32_t>(i), tree.edges[i].a, tree.edges[i].b};
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
enum ContractionCount : std::uint8_t { kLeft, kRoots, kRemaining, kCounts };

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
  if (i < count) below[i] = {0, kNoNode};
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
  if (const std::uint32_t parent = parent_of(all, element); parent != kNoNode) add_below(below, parent, below[i]);
}

/// The element of the node that an element belongs to; kNoNode as long as that is the one of its parent.
__global__ void start_tops_kernel(Dendrogram all, std::uint32_t* tops) {
  const std::uint64_t i = tree_thread();
  if (i >= all.edges) return;
  const auto element = static_cast<std::uint32_t>(i);
  const std::uint32_t parent = parent_of(all, element);
  tops[i] = parent != kNoNode && height_of(all, parent) == height_of(all, element) ? kNoNode : element;
}
__global__ void take_from_parents_kernel(Dendrogram all, std::uint32_t first, std::uint32_t last, std::uint32_t* tops) {
  const std::uint64_t i = first + tree_thread();
  if (i >= last || tops[i] != kNoNode) return;
  const auto element = static_cast<std::uint32_t>(i);
  if (ends_chain(all, element)) tops[i] = tops[parent_of(all, element)];
}
struct LastKnown {
  __device__ std::uint32_t operator()(std::uint32_t before, std::uint32_t own) const {
    return own != kNoNode ? own : before;
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
  to[i] = {all.tree.edges[nodes[i]].height, parent == kNoNode ? kNoNode : numbers[tops[parent]], below[element].size,
           below[element].first_id};
}
__global__ void write_parents_kernel(Dendrogram all, const std::uint32_t* numbers, const std::uint32_t* tops,
                                     std::uint32_t* parents) {
  const std::uint64_t p = tree_thread();
  if (p < all.tree.size) parents[all.tree.order[p]] = numbers[tops[all.element_of[all.points.lowest[p]]]];
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

/// The steps that make a dendrogram.
struct DeviceDendrogram::Joining : DendrogramRun {
  using DendrogramRun::DendrogramRun;

  /// Makes the levels. Returns the number of the first point of each.
  [[nodiscard]] std::vector<std::uint32_t> contract() const {
    auto edges = buffer<LevelEdge>(of.edges_), others = buffer<LevelEdge>(of.edges_);
    const auto parents = buffer<std::uint32_t>(of.size_), roots_before = buffer<std::uint32_t>(of.size_ + 1);
    const auto remains = buffer<char>(of.edges_);
    const auto counts = buffer<std::uint32_t>(kCounts);
    std::vector<std::uint32_t> firsts;
    each(first_level_kernel, of.edges_, SortedTree{of.size_, of.edges_of_tree_, of.order_}, edges.data());
    check(cudaMemsetAsync(of.lowest_.data(), 0xFF, of.lowest_.bytes(), stream()));  // kNoNode
    for (ContractionLevel level{0, of.size_, of.edges_}; level.edges > 0;) {
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
      ContractionLevel next{level.first + level.points, 0, 0};
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

  /// Counts the points below each element.
  void go_up() const {
    PointsBelow* const below = of.below_.data();
    each(start_below_kernel, of.edges_, below, of.edges_);
    each(add_points_kernel, of.size_, view(), below);
    upwards([&](std::uint32_t first, std::uint32_t last) {
      cub([&](void* temporary, std::size_t& bytes) {
        return cub::DeviceScan::InclusiveScanByKey(temporary, bytes, of.chains_.data() + first, below + first,
                                                   below + first, AddBelow{}, last - first, SameChain{}, stream());
      });
      each(add_chains_kernel, last - first, view(), first, last, below);
    });
  }
};

DeviceDendrogram::DeviceDendrogram(const DeviceTree& tree, const std::uint32_t* order, Scratch scratch)
    : scratch_(scratch),
      size_(static_cast<std::uint32_t>(tree.core.size())),
      edges_of_tree_(tree.edges.data()),
      order_(order),
      edges_(size_ - 1) {
  const Joining run(*this);
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
  const Joining run(*this);
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
