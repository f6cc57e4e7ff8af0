#include <cuda_runtime.h>

#include <thrust/iterator/counting_iterator.h>
#include <bit>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <cuda/std/iterator>
#include <utility>
#include <vector>

#include <epsflow/core/least_passing.hpp>
#include <epsflow/gpu/base/error.hpp>
#include <epsflow/gpu/base/tuning.hpp>
#include <epsflow/gpu/base/with_scratch.hpp>
#include <epsflow/gpu/trees/device_dendrogram.hpp>
#include <epsflow/gpu/trees/tree_threads.cuh>
#include <epsflow/index/distance.hpp>

// From a spanning tree to its dendrogram, with an amount of work that does not depend on the dendrogram's depth, after
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
// So sums from the points up to the root are made level by level, within each level by a scan along its chains; what
// passes from the root down to the points likewise.
//
// Edges of one height are one node: the highest one, if each is the parent of the next.

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

/// A level after its contraction. Points of all levels are numbered together, level after level.
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

__global__ void fill_kernel(std::uint32_t* values, std::uint32_t value, std::uint64_t count) {
  const std::uint64_t i = tree_thread();
  if (i < count) values[i] = value;
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

/// Finds the root of each point. A thread stores only its own entry, which others may follow.
__global__ void find_roots_kernel(volatile std::uint32_t* parents, std::uint32_t count, std::uint32_t* is_root) {
  const std::uint64_t x = tree_thread();
  if (x >= count) return;
  std::uint32_t at = parents[x];
  is_root[x] = at == x;
  for (std::uint32_t next = parents[at]; next != at; next = parents[at]) {
    at = next;
    parents[x] = at;
  }
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

/// What is known of the points below an element.
struct Below {
  std::uint32_t size;
  std::uint32_t first_id;
};
struct AddBelow {
  __device__ Below operator()(const Below& a, const Below& b) const {
    return {a.size + b.size, a.first_id < b.first_id ? a.first_id : b.first_id};
  }
};

__device__ void add_below(Below* below, std::uint32_t element, const Below& more) {
  atomicAdd(&below[element].size, more.size);
  atomicMin(&below[element].first_id, more.first_id);
}

__global__ void start_below_kernel(Below* below, std::uint32_t count) {
  const std::uint64_t i = tree_thread();
  if (i < count) below[i] = {0, kNone};
}
__global__ void add_points_kernel(Dendrogram all, Below* below) {
  const std::uint64_t p = tree_thread();
  if (p < all.tree.size) {
    add_below(below, all.element_of[all.points.lowest[p]], {1, all.tree.order[p]});
  }
}
/// Adds the chains of the elements [first, last) to their parents on higher levels.
__global__ void add_chains_kernel(Dendrogram all, std::uint32_t first, std::uint32_t last, Below* below) {
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
                                 const std::uint32_t* ranks, const Below* below, unsigned long long* keys) {
  const std::uint64_t i = tree_thread();
  if (i >= count) return;
  keys[i] = static_cast<unsigned long long>(ranks[i]) << 32 | below[all.element_of[nodes[i]]].first_id;
}
__global__ void number_nodes_kernel(Dendrogram all, const std::uint32_t* nodes, std::uint32_t count,
                                    std::uint32_t* numbers) {
  const std::uint64_t i = tree_thread();
  if (i < count) numbers[all.element_of[nodes[i]]] = static_cast<std::uint32_t>(i);
}
__global__ void write_nodes_kernel(Dendrogram all, const std::uint32_t* nodes, std::uint32_t count,
                                   const std::uint32_t* numbers, const std::uint32_t* tops, const Below* below,
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

class Joining {
 public:
  Joining(const SortedTree& tree, Scratch scratch)
      : tree_(tree),
        scratch_(scratch),
        edges_(tree.size - 1),
        lowest_(buffer<std::uint32_t>(2 * std::uint64_t{tree.size})),
        within_(buffer<std::uint32_t>(2 * std::uint64_t{tree.size})),
        chains_(buffer<std::uint32_t>(edges_)),
        edge_of_(buffer<std::uint32_t>(edges_)),
        element_of_(buffer<std::uint32_t>(edges_)),
        below_(buffer<Below>(edges_)),
        tops_(buffer<std::uint32_t>(edges_)) {}

  DeviceNodes run() {
    contract();
    sort_chains();
    const Dendrogram all{tree_,          edges_,          {lowest_.data(), within_.data()},
                         chains_.data(), edge_of_.data(), element_of_.data()};
    go_up(all);
    go_down(all);
    return write(all);
  }

 private:
  [[nodiscard]] cudaStream_t stream() const noexcept { return scratch_.stream; }
  template <class T>
  [[nodiscard]] DeviceBuffer<T> buffer(std::uint64_t size) const {
    return DeviceBuffer<T>(scratch_.memory, scratch_.stream, size);
  }
  /// Launches one thread for each of `count` items.
  template <class Kernel, class... Arguments>
  void each(Kernel kernel, std::uint64_t count, Arguments... arguments) const {
    if (count == 0) return;
    kernel<<<tree_blocks(count), tuning::kTreeThreads, 0, stream()>>>(arguments...);
    check_launch(stream());
  }

  /// Makes the levels.
  void contract() {
    DeviceBuffer<LevelEdge> edges = buffer<LevelEdge>(edges_), others = buffer<LevelEdge>(edges_);
    const auto parents = buffer<std::uint32_t>(tree_.size), roots_before = buffer<std::uint32_t>(tree_.size + 1);
    const auto remains = buffer<char>(edges_);
    const auto count = buffer<std::uint32_t>(1);
    each(first_level_kernel, edges_, tree_, edges.data());
    each(fill_kernel, lowest_.size(), lowest_.data(), kNone, lowest_.size());
    for (Level level{0, tree_.size, edges_}; level.edges > 0;) {
      levels_.push_back(level);
      std::uint32_t* const lowest = lowest_.data() + level.first;
      each(lowest_edges_kernel, level.edges, edges.data(), level.edges, lowest);
      each(contract_kernel, level.edges, edges.data(), level.edges, lowest, parents.data(), remains.data());
      each(find_roots_kernel, level.points, parents.data(), level.points, roots_before.data());
      with_scratch(scratch_, [&](void* temporary, std::size_t& bytes) {
        return cub::DeviceScan::ExclusiveSum(temporary, bytes, roots_before.data(), roots_before.data(),
                                             static_cast<std::int64_t>(level.points) + 1, stream());
      });
      Level next{level.first + level.points, 0, 0};
      each(number_points_kernel, level.points, parents.data(), roots_before.data(), level.points, next.first,
           within_.data() + level.first);
      with_scratch(scratch_, [&](void* temporary, std::size_t& bytes) {
        return cub::DeviceSelect::Flagged(temporary, bytes, edges.data(), remains.data(), others.data(), count.data(),
                                          static_cast<std::int64_t>(level.edges), stream());
      });
      next.points = read_values(roots_before.data() + level.points, 1, stream()).front();
      next.edges = read_values(count.data(), 1, stream()).front();
      each(next_level_kernel, next.edges, others.data(), next.edges, level.first, within_.data(), next.first);
      std::swap(edges, others);
      level = next;
      if (level.edges == 0) levels_.push_back(level);
    }
  }

  /// Orders the edges by their chains.
  void sort_chains() {
    DeviceBuffer<std::uint32_t> keys = buffer<std::uint32_t>(edges_), values = buffer<std::uint32_t>(edges_);
    each(chains_kernel, edges_, tree_, LevelPoints{lowest_.data(), within_.data()}, chains_.data(), edge_of_.data());
    TwoBuffers<std::uint32_t> chains{chains_.data(), keys.data()}, sorted{edge_of_.data(), values.data()};
    launch_sort(chains, sorted, edges_, std::bit_width(levels_.back().first), scratch_);
    if (chains.current != chains_.data()) std::swap(chains_, keys);
    if (sorted.current != edge_of_.data()) std::swap(edge_of_, values);
    each(invert_kernel, edges_, edge_of_.data(), edges_, element_of_.data());
    find_starts();
  }

  /// Finds the first element of each level.
  void find_starts();

  /// Adds up what is below each element.
  void go_up(const Dendrogram& all) {
    each(start_below_kernel, edges_, below_.data(), edges_);
    each(add_points_kernel, tree_.size, all, below_.data());
    for (std::size_t level = 1; level < levels_.size(); ++level) {
      const std::uint32_t first = starts_[level], last = starts_[level + 1];
      if (first == last) continue;
      with_scratch(scratch_, [&](void* temporary, std::size_t& bytes) {
        return cub::DeviceScan::InclusiveScanByKey(temporary, bytes, chains_.data() + first, below_.data() + first,
                                                   below_.data() + first, AddBelow{}, last - first, Same{}, stream());
      });
      each(add_chains_kernel, last - first, all, first, last, below_.data());
    }
  }

  /// Finds the node of each element.
  void go_down(const Dendrogram& all) {
    each(start_tops_kernel, edges_, all, tops_.data());
    for (std::size_t level = levels_.size(); level-- > 1;) {
      const std::uint32_t first = starts_[level], last = starts_[level + 1];
      if (first == last) continue;
      each(take_from_parents_kernel, last - first, all, first, last, tops_.data());
      const auto keys = ::cuda::std::make_reverse_iterator(chains_.data() + last);
      const auto values = ::cuda::std::make_reverse_iterator(tops_.data() + last);
      with_scratch(scratch_, [&](void* temporary, std::size_t& bytes) {
        return cub::DeviceScan::InclusiveScanByKey(temporary, bytes, keys, values, values, LastKnown{}, last - first,
                                                   Same{}, stream());
      });
    }
  }

  DeviceNodes write(const Dendrogram& all) {
    DeviceNodes found{buffer<TreeNode>(edges_), 0, buffer<std::uint32_t>(tree_.size)};
    DeviceBuffer<std::uint32_t> nodes = buffer<std::uint32_t>(edges_), other_nodes = buffer<std::uint32_t>(edges_);
    const auto numbers = buffer<std::uint32_t>(edges_);
    {
      const auto is_node = buffer<char>(edges_);
      const auto count = buffer<std::uint32_t>(1);
      each(mark_nodes_kernel, edges_, all, tops_.data(), is_node.data());
      with_scratch(scratch_, [&](void* temporary, std::size_t& bytes) {
        return cub::DeviceSelect::Flagged(temporary, bytes, thrust::counting_iterator<std::uint32_t>(0), is_node.data(),
                                          nodes.data(), count.data(), static_cast<std::int64_t>(edges_), stream());
      });
      found.count = read_values(count.data(), 1, stream()).front();
    }
    // Of one eps, nodes are in the order of their first ids.
    each(mark_heights_kernel, found.count, all, nodes.data(), found.count, numbers.data());
    with_scratch(scratch_, [&](void* temporary, std::size_t& bytes) {
      return cub::DeviceScan::InclusiveSum(temporary, bytes, numbers.data(), numbers.data(),
                                           static_cast<std::int64_t>(found.count), stream());
    });
    const auto keys = buffer<unsigned long long>(found.count), other_keys = buffer<unsigned long long>(found.count);
    each(node_keys_kernel, found.count, all, nodes.data(), found.count, numbers.data(), below_.data(), keys.data());
    cub::DoubleBuffer<unsigned long long> sorted_keys(keys.data(), other_keys.data());
    cub::DoubleBuffer<std::uint32_t> sorted(nodes.data(), other_nodes.data());
    with_scratch(scratch_, [&](void* temporary, std::size_t& bytes) {
      return cub::DeviceRadixSort::SortPairs(temporary, bytes, sorted_keys, sorted,
                                             static_cast<std::int64_t>(found.count), 0, 64, stream());
    });
    each(number_nodes_kernel, found.count, all, sorted.Current(), found.count, numbers.data());
    each(write_nodes_kernel, found.count, all, sorted.Current(), found.count, numbers.data(), tops_.data(),
         below_.data(), found.nodes.data());
    each(write_parents_kernel, tree_.size, all, numbers.data(), tops_.data(), found.parents.data());
    return found;
  }

  SortedTree tree_;
  Scratch scratch_;
  std::uint32_t edges_;
  DeviceBuffer<std::uint32_t> lowest_, within_;
  DeviceBuffer<std::uint32_t> chains_, edge_of_, element_of_;
  DeviceBuffer<Below> below_;
  DeviceBuffer<std::uint32_t> tops_;
  std::vector<Level> levels_;
  std::vector<std::uint32_t> starts_;  ///< the first element of each level; the number of elements
};

/// Writes starts[i] = the first element whose chain is not below firsts[i].
__global__ void starts_kernel(const std::uint32_t* chains, std::uint32_t count, const std::uint32_t* firsts,
                              std::uint32_t* starts) {
  const std::uint32_t first = firsts[threadIdx.x];
  std::uint32_t lo = 0, hi = count;
  while (lo < hi) {
    const std::uint32_t middle = lo + (hi - lo) / 2;
    if (chains[middle] < first) {
      lo = middle + 1;
    } else {
      hi = middle;
    }
  }
  starts[threadIdx.x] = lo;
}

void Joining::find_starts() {
  std::vector<std::uint32_t> firsts;
  for (const Level& level : levels_) firsts.push_back(level.first);
  const auto on_device = copy_of(std::span<const std::uint32_t>(firsts), scratch_.memory, stream());
  const auto starts = buffer<std::uint32_t>(firsts.size());
  starts_kernel<<<1, static_cast<unsigned>(firsts.size()), 0, stream()>>>(chains_.data(), edges_, on_device.data(),
                                                                          starts.data());
  check_launch(stream());
  starts_ = read_values(starts.data(), firsts.size(), stream());
  starts_.push_back(edges_);
}

}  // namespace

DeviceNodes join_edges(const DeviceTree& tree, const std::uint32_t* order, Scratch scratch) {
  const auto size = static_cast<std::uint32_t>(tree.core.size());
  if (size > 1) return Joining({size, tree.edges.data(), order}, scratch).run();
  DeviceNodes single{{}, 0, DeviceBuffer<std::uint32_t>(scratch.memory, scratch.stream, size)};
  check(cudaMemsetAsync(single.parents.data(), 0xFF, single.parents.bytes(), scratch.stream));
  return single;
}

void launch_sums_to_eps(Edge* edges, double* core, std::uint32_t size, cudaStream_t stream) {
  sums_to_eps_kernel<<<tree_blocks(size), tuning::kTreeThreads, 0, stream>>>(edges, core, size);
  check_launch(stream);
}

}  // namespace epsflow::gpu
