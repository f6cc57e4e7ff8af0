#include <cuda_runtime.h>

#include <cub/device/device_radix_sort.cuh>

#include <epsflow/gpu/base/error.hpp>
#include <epsflow/gpu/base/tuning.hpp>
#include <epsflow/gpu/base/with_scratch.hpp>
#include <epsflow/gpu/base/with_types.hpp>
#include <epsflow/gpu/direct/disjoint_sets.cuh>
#include <epsflow/gpu/nearest/near_frame.hpp>
#include <epsflow/gpu/trees/boruvka_kernels.hpp>
#include <epsflow/gpu/trees/tree_threads.cuh>
#include <epsflow/index/distance.hpp>

// Which pairs are the lowest, and why pairs of equal height need no order, is in trees/boruvka.cpp. Here each point
// offers its lowest pair: by an atomic minimum to the heights of both components. Points keep their pairs, and name
// those whose height is the lowest when all have offered.

namespace epsflow::gpu {
namespace {

constexpr unsigned kWarps = tuning::kTreeThreads / 32;

__device__ SumBits bits_of(double sum) { return static_cast<SumBits>(__double_as_longlong(sum)); }
__device__ double sum_of(SumBits bits) { return __longlong_as_double(static_cast<long long>(bits)); }
__device__ PositionPair pair_of(std::uint32_t from, std::uint32_t to) { return PositionPair{from} << 32 | to; }

template <class T>
__device__ double coordinate(const LeafView& leaves, unsigned k, std::uint32_t position) {
  return static_cast<double>(
      __ldg(static_cast<const T*>(leaves.coordinates) + std::uint64_t{k} * leaves.size + position));
}
template <class T, unsigned D>
__device__ double sum_between(const LeafView& leaves, std::uint32_t p, std::uint32_t q) {
  return index::squared_distance<D>([&](std::size_t k) { return coordinate<T>(leaves, static_cast<unsigned>(k), p); },
                                    [&](std::size_t k) { return coordinate<T>(leaves, static_cast<unsigned>(k), q); },
                                    D);
}

__device__ std::uint32_t listed(const BoruvkaView& view, std::uint32_t p, std::uint32_t i) {
  return __ldg(view.lists + std::uint64_t{i} * view.leaves.size + p);
}

/// Returns a place in a list of *count elements for each thread with `takes`. All threads of the warp must call it.
__device__ std::uint32_t place_in(std::uint32_t* count, bool takes) {
  const unsigned takers = __ballot_sync(tuning::kWholeWarp, takes);
  if (takers == 0) return 0;
  const unsigned lane = threadIdx.x % 32;
  std::uint32_t first = 0;
  if (lane == 0) first = atomicAdd(count, static_cast<std::uint32_t>(__popc(takers)));
  return __shfl_sync(tuning::kWholeWarp, first, 0) + __popc(takers & ((1U << lane) - 1));
}

/// Adds `position` to the list for each thread with `takes`. All threads of the warp must call it.
__device__ void append(const PositionList& list, bool takes, std::uint32_t position) {
  const std::uint32_t at = place_in(list.count, takes);
  if (takes) list.positions[at] = position;
}

__device__ SumBits lowest_height(const BoruvkaView& view, std::uint32_t component) {
  return *const_cast<const volatile SumBits*>(view.heights + component);
}
/// Lowers the height of a component that names a pair.
__device__ void offer(const BoruvkaView& view, std::uint32_t component, SumBits height) {
  if (component == __ldg(view.largest)) return;
  if (height < lowest_height(view, component)) atomicMin(view.heights + component, height);
}

template <class T, unsigned D>
__global__ void start_trees_kernel(const __grid_constant__ BoruvkaView view) {
  const std::uint64_t thread = tree_thread();
  if (thread >= view.leaves.size) return;
  const auto p = static_cast<std::uint32_t>(thread);
  view.core[p] = view.k == 0 ? 0 : sum_between<T, D>(view.leaves, p, listed(view, p, view.k - 1));
  view.reach[p] = view.length == 0 ? 0 : sum_between<T, D>(view.leaves, p, listed(view, p, view.length - 1));
  view.parents[p] = p;
  view.edge_heights[p] = kInfiniteSum;
}

/// Finds the smallest core sum of each box.
__global__ void box_cores_kernel(const __grid_constant__ BoruvkaView view, unsigned level) {
  const std::uint64_t box = tree_thread();
  if (box >= view.leaves.counts[level]) return;
  const std::uint32_t branch = level == 0 ? kDeviceLeaf : kDeviceBranch;
  const std::uint64_t below = level == 0 ? view.leaves.size : view.leaves.counts[level - 1];
  const double* const from = level == 0 ? view.core : view.box_cores[level - 1];
  double least = sum_of(kInfiniteSum);
  for (std::uint64_t i = box * branch; i < min((box + 1) * branch, below); ++i) least = fmin(least, from[i]);
  view.box_cores[level][box] = least;
}

/// Finds the component of each box.
__global__ void box_components_kernel(const __grid_constant__ BoruvkaView view, unsigned level) {
  const std::uint64_t box = tree_thread();
  if (box >= view.leaves.counts[level]) return;
  const std::uint32_t branch = level == 0 ? kDeviceLeaf : kDeviceBranch;
  const std::uint64_t below = level == 0 ? view.leaves.size : view.leaves.counts[level - 1];
  const std::uint32_t* const from = level == 0 ? view.parents : view.box_components[level - 1];
  const std::uint32_t first = from[box * branch];
  bool same = true;
  for (std::uint64_t i = box * branch + 1; i < min((box + 1) * branch, below); ++i) same &= from[i] == first;
  view.box_components[level][box] = same ? first : kMixedBox;
}

__global__ void descend_kernel(const __grid_constant__ BoruvkaView view) {
  const std::uint64_t thread = tree_thread();
  if (thread >= view.leaves.size) return;
  const auto p = static_cast<std::uint32_t>(thread);
  const double core = view.core[p];
  double lowest_core = core;
  std::uint32_t lowest = p;
  for (std::uint32_t i = 0; i < view.k; ++i) {
    const std::uint32_t q = listed(view, p, i);
    const double other = view.core[q];
    if (other < lowest_core || (other == lowest_core && q < lowest)) {
      lowest_core = other;
      lowest = q;
    }
  }
  if (lowest == p) return;
  view.parents[p] = lowest;
  view.edge_heights[p] = bits_of(core);
  view.edges[p] = pair_of(p, lowest);
}

__global__ void flatten_kernel(const __grid_constant__ BoruvkaView view) {
  const std::uint64_t p = tree_thread();
  if (p >= view.leaves.size) return;
  const DisjointSets sets(view.parents);
  const auto at = static_cast<std::uint32_t>(p);
  sets.set(at, sets.root(at));
}

__global__ void list_roots_kernel(const __grid_constant__ BoruvkaView view, const std::uint32_t* positions,
                                  std::uint32_t count, PositionList roots) {
  const std::uint64_t i = tree_thread();
  const bool there = i < count;
  const std::uint32_t p = !there ? 0 : positions == nullptr ? static_cast<std::uint32_t>(i) : positions[i];
  append(roots, there && view.parents[p] == p, p);
}

/// Samples points, and chooses the component of most of them. One block.
__global__ void largest_kernel(const __grid_constant__ BoruvkaView view) {
  constexpr unsigned kSlots = 4 * tuning::kTreeSample;
  __shared__ std::uint32_t components[kSlots];
  __shared__ std::uint32_t counts[kSlots];
  __shared__ unsigned long long most;
  for (unsigned i = threadIdx.x; i < kSlots; i += blockDim.x) {
    components[i] = kMixedBox;
    counts[i] = 0;
  }
  if (threadIdx.x == 0) most = 0;
  __syncthreads();
  const std::uint32_t component = view.parents[std::uint64_t{threadIdx.x} * view.leaves.size / tuning::kTreeSample];
  for (unsigned slot = component * 2654435761U;; ++slot) {
    const std::uint32_t seen = atomicCAS(&components[slot % kSlots], kMixedBox, component);
    if (seen != kMixedBox && seen != component) continue;
    const std::uint32_t count = atomicAdd(&counts[slot % kSlots], 1U) + 1;
    atomicMax(&most, static_cast<unsigned long long>(count) << 32 | component);
    break;
  }
  __syncthreads();
  if (threadIdx.x == 0) *view.largest = static_cast<std::uint32_t>(most);
}

__global__ void forget_pairs_kernel(const __grid_constant__ BoruvkaView view, const std::uint32_t* roots,
                                    std::uint32_t count) {
  const std::uint64_t i = tree_thread();
  if (i < count) view.heights[roots[i]] = kInfiniteSum;
}

template <class T, unsigned D>
__global__ void offer_listed_kernel(const __grid_constant__ BoruvkaView view, const std::uint32_t* points,
                                    std::uint32_t count, OfferedPairs open, std::uint32_t* open_count) {
  const std::uint64_t thread = tree_thread();
  const bool there = thread < count;
  std::uint32_t p = 0, end = 0;
  double lowest = sum_of(kInfiniteSum);
  if (there) {
    p = points == nullptr ? static_cast<std::uint32_t>(thread) : points[thread];
    const std::uint32_t component = view.parents[p];
    const double core = view.core[p];
    for (std::uint32_t i = 0; i < view.length; ++i) {
      const std::uint32_t q = listed(view, p, i);
      if (view.parents[q] == component) continue;
      double height = fmax(core, view.core[q]);
      if (i >= view.k) height = fmax(height, sum_between<T, D>(view.leaves, p, q));
      if (!(height < lowest)) continue;
      lowest = height;
      end = q;
    }
    if (bits_of(lowest) != kInfiniteSum) {
      offer(view, component, bits_of(lowest));
      offer(view, view.parents[end], bits_of(lowest));
    }
  }
  const bool opens = there && bits_of(lowest) != kInfiniteSum;
  const std::uint32_t at = place_in(open_count, opens);
  if (!opens) return;
  open.points[at] = p;
  open.heights[at] = bits_of(lowest);
  open.ends[at] = end;
}

__global__ void list_searching_kernel(const __grid_constant__ BoruvkaView view, PositionList searching) {
  const std::uint64_t thread = tree_thread();
  bool searches = false;
  if (thread < view.leaves.size) {
    const std::uint32_t component = view.parents[thread];
    searches = component != *view.largest && bits_of(view.reach[thread]) < view.heights[component];
  }
  append(searching, searches, static_cast<std::uint32_t>(thread));
}

/// A node whose children are to be searched, and no pair with them is lower than the bound.
struct OpenNode {
  std::uint32_t node;
  unsigned level;
  double bound;
};

/// Shared memory of one warp. Open nodes of a level are children of one node.
struct SearchMemory {
  OpenNode open[kMostLevels * kDeviceBranch];
  std::uint32_t leaves[kDeviceBranch];
};

/// A warp searches the lowest pair of one point with another component. It starts at the point's own leaf and climbs.
/// At each node it skips boxes of the own component, and boxes that are too far. A lane tests a box, or a point.
template <class T, unsigned D>
class OutsideSearch {
 public:
  __device__ OutsideSearch(const BoruvkaView& view, SearchMemory& memory, std::uint32_t p)
      : view_(view), memory_(memory), lane_(threadIdx.x % 32), p_(p), component_(view.parents[p]), core_(view.core[p]) {
#pragma unroll
    for (unsigned k = 0; k < D; ++k) point_[k] = coordinate<T>(view.leaves, k, p);
  }

  __device__ void run() {
    refresh();
    std::uint32_t child = p_ / kDeviceLeaf;
    search_leaves(child / kDeviceBranch);
    for (unsigned level = 2; level <= view_.leaves.levels && within(view_.reach[p_]); ++level) {
      child /= kDeviceBranch;
      open_children(level, child / kDeviceBranch, child);
      while (open_ > 0) {
        const OpenNode next = memory_.open[--open_];
        __syncwarp();  // before other lanes write there
        if (!within(next.bound)) continue;
        if (next.level > 1) {
          open_children(next.level, next.node, kMixedBox);
        } else {
          search_leaves(next.node);
          refresh();
        }
      }
    }
    if (lane_ == 0) view_.reach[p_] = fmax(view_.reach[p_], limit_);
  }

  /// The lowest pair that was found, if its height is not infinite.
  [[nodiscard]] __device__ SumBits height() const { return height_; }
  [[nodiscard]] __device__ std::uint32_t end() const { return found_; }

 private:
  [[nodiscard]] __device__ bool within(double bound) const { return bound < limit_; }

  /// Lowers the limit to the height that other points have found.
  __device__ void refresh() {
    const SumBits height = lane_ == 0 ? lowest_height(view_, component_) : 0;
    limit_ = fmin(limit_, sum_of(__shfl_sync(tuning::kWholeWarp, height, 0)));
  }

  /// Returns true if a child of a node of `level` may hold a pair to be found, with the bound on its height.
  __device__ bool is_open(unsigned level, std::uint32_t child, double& bound) const {
    const std::uint32_t count = view_.leaves.counts[level - 1];
    if (child >= count || view_.box_components[level - 1][child] == component_) return false;
    bound = fmax(core_, view_.box_cores[level - 1][child]);
    if (!within(bound)) return false;
    const T* const boxes = static_cast<const T*>(view_.leaves.boxes[level - 1]);
    const auto end = [&](unsigned k, unsigned upper) {
      return static_cast<double>(__ldg(boxes + std::uint64_t{2 * k + upper} * count + child));
    };
    bound =
        fmax(bound, box_sum<D>(
                        point_, point_, [&](unsigned k) { return end(k, 0); }, [&](unsigned k) { return end(k, 1); }));
    return within(bound);
  }

  __device__ void open_children(unsigned level, std::uint32_t node, std::uint32_t except) {
    const std::uint32_t child = node * kDeviceBranch + lane_;
    double bound = 0;
    const bool opens = child != except && is_open(level, child, bound);
    const unsigned lanes = __ballot_sync(tuning::kWholeWarp, opens);
    if (opens) memory_.open[open_ + __popc(lanes & ((1U << lane_) - 1))] = {child, level - 1, bound};
    open_ += __popc(lanes);
    __syncwarp();
  }

  /// Searches the leaves of a node of level 1.
  __device__ void search_leaves(std::uint32_t node) {
    const std::uint32_t leaf = node * kDeviceBranch + lane_;
    double bound = 0;
    const bool opens = is_open(1, leaf, bound);
    const unsigned lanes = __ballot_sync(tuning::kWholeWarp, opens);
    if (opens) memory_.leaves[__popc(lanes & ((1U << lane_) - 1))] = leaf;
    __syncwarp();
    const unsigned count = __popc(lanes);
    for (unsigned at = lane_ / kDeviceLeaf; at - lane_ / kDeviceLeaf < count; at += 32 / kDeviceLeaf) {
      test(at < count ? std::uint64_t{memory_.leaves[at]} * kDeviceLeaf + lane_ % kDeviceLeaf : view_.leaves.size);
    }
    __syncwarp();  // before the leaves are overwritten
  }

  /// Tests a point in each lane; none if the position is not below the size.
  __device__ void test(std::uint64_t position) {
    SumBits height = kInfiniteSum;
    const auto q = static_cast<std::uint32_t>(position);
    if (position < view_.leaves.size && view_.parents[q] != component_) {
      const double sum = index::squared_distance<D>(
          [&](std::size_t k) { return point_[k]; },
          [&](std::size_t k) { return coordinate<T>(view_.leaves, static_cast<unsigned>(k), q); }, D);
      height = bits_of(fmax(sum, fmax(core_, view_.core[q])));
    }
    if (!__any_sync(tuning::kWholeWarp, within(sum_of(height)))) return;
    SumBits lowest = height;
#pragma unroll
    for (unsigned other = 16; other > 0; other /= 2) {
      lowest = min(lowest, __shfl_xor_sync(tuning::kWholeWarp, lowest, other));
    }
    const unsigned from = __ffs(__ballot_sync(tuning::kWholeWarp, height == lowest)) - 1;
    found_ = __shfl_sync(tuning::kWholeWarp, q, from);
    height_ = lowest;
    limit_ = sum_of(lowest);
    if (lane_ == 0) offer(view_, component_, lowest);
  }

  const BoruvkaView& view_;
  SearchMemory& memory_;
  unsigned lane_;
  std::uint32_t p_;
  std::uint32_t component_;
  double core_;
  double point_[D];
  double limit_ = __builtin_huge_val();  ///< only lower pairs are of interest
  SumBits height_ = kInfiniteSum;        ///< of the pair with found_
  std::uint32_t found_ = 0;
  unsigned open_ = 0;
};

template <class T, unsigned D>
__global__ void __launch_bounds__(tuning::kTreeThreads)
    search_outside_kernel(const __grid_constant__ BoruvkaView view, OfferedPairs pairs) {
  __shared__ SearchMemory memory[kWarps];
  const std::uint64_t i = tree_thread() / 32;
  if (i >= pairs.count) return;
  OutsideSearch<T, D> search(view, memory[threadIdx.x / 32], pairs.points[i]);
  search.run();
  if (threadIdx.x % 32 != 0) return;
  pairs.heights[i] = search.height();
  pairs.ends[i] = search.end();
  if (search.height() != kInfiniteSum) offer(view, view.parents[search.end()], search.height());
}

__global__ void name_pairs_kernel(const __grid_constant__ BoruvkaView view, OfferedPairs pairs) {
  const std::uint64_t i = tree_thread();
  if (i >= pairs.count) return;
  const SumBits height = pairs.heights[i];
  if (height == kInfiniteSum) return;
  const std::uint32_t p = pairs.points[i], q = pairs.ends[i];
  const std::uint32_t component = view.parents[p], other = view.parents[q];
  if (view.heights[component] == height) view.pairs[component] = pair_of(p, q);
  if (view.heights[other] == height) view.pairs[other] = pair_of(p, q);
}

__global__ void unite_kernel(const __grid_constant__ BoruvkaView view, const std::uint32_t* roots,
                             std::uint32_t count) {
  const std::uint64_t i = tree_thread();
  if (i >= count) return;
  const std::uint32_t root = roots[i];
  const SumBits height = view.heights[root];
  if (root == *view.largest || height == kInfiniteSum) return;
  const PositionPair pair = view.pairs[root];
  const std::uint32_t ended =
      DisjointSets(view.parents).join(static_cast<std::uint32_t>(pair >> 32), static_cast<std::uint32_t>(pair));
  if (ended == kNotCore) return;
  view.edge_heights[ended] = height;
  view.edges[ended] = pair;
}

__global__ void edges_kernel(const SumBits* heights, const PositionPair* pairs, std::uint64_t count, Edge* edges) {
  const std::uint64_t i = tree_thread();
  if (i >= count) return;
  edges[i] = {sum_of(heights[i]), static_cast<std::uint32_t>(pairs[i] >> 32), static_cast<std::uint32_t>(pairs[i])};
}

__global__ void name_by_id_kernel(LeafView leaves, Edge* edges) {
  const std::uint64_t i = tree_thread();
  if (i + 1 >= leaves.size) return;
  edges[i].a = leaves.order[edges[i].a];
  edges[i].b = leaves.order[edges[i].b];
}

__global__ void core_by_id_kernel(const __grid_constant__ BoruvkaView view, double* core) {
  const std::uint64_t p = tree_thread();
  if (p < view.leaves.size) core[view.leaves.order[p]] = view.core[p];
}

template <class F>
void with_dims(const BoruvkaView& view, F f) {
  with_types<1, 2, 3>(view.leaves.precision, view.leaves.dims, f);
}

}  // namespace

void launch_start_trees(const BoruvkaView& view, cudaStream_t stream) {
  with_dims(view, [&]<class T, unsigned D>() {
    start_trees_kernel<T, D><<<tree_blocks(view.leaves.size), tuning::kTreeThreads, 0, stream>>>(view);
  });
  check_launch(stream);
  for (unsigned level = 0; level < view.leaves.levels; ++level) {
    box_cores_kernel<<<tree_blocks(view.leaves.counts[level]), tuning::kTreeThreads, 0, stream>>>(view, level);
    check_launch(stream);
  }
}

void launch_descend(const BoruvkaView& view, cudaStream_t stream) {
  descend_kernel<<<tree_blocks(view.leaves.size), tuning::kTreeThreads, 0, stream>>>(view);
  check_launch(stream);
}

void launch_flatten(const BoruvkaView& view, cudaStream_t stream) {
  flatten_kernel<<<tree_blocks(view.leaves.size), tuning::kTreeThreads, 0, stream>>>(view);
  check_launch(stream);
}

void launch_list_roots(const BoruvkaView& view, const std::uint32_t* positions, std::uint32_t count, PositionList roots,
                       cudaStream_t stream) {
  check(cudaMemsetAsync(roots.count, 0, sizeof *roots.count, stream));
  list_roots_kernel<<<tree_blocks(count), tuning::kTreeThreads, 0, stream>>>(view, positions, count, roots);
  check_launch(stream);
}

void launch_start_round(const BoruvkaView& view, const std::uint32_t* roots, std::uint32_t count, cudaStream_t stream) {
  largest_kernel<<<1, tuning::kTreeSample, 0, stream>>>(view);
  check_launch(stream);
  forget_pairs_kernel<<<tree_blocks(count), tuning::kTreeThreads, 0, stream>>>(view, roots, count);
  check_launch(stream);
}

void launch_offer_listed(const BoruvkaView& view, const std::uint32_t* points, std::uint32_t count, OfferedPairs open,
                         std::uint32_t* open_count, cudaStream_t stream) {
  check(cudaMemsetAsync(open_count, 0, sizeof *open_count, stream));
  if (count == 0) return;
  with_dims(view, [&]<class T, unsigned D>() {
    offer_listed_kernel<T, D>
        <<<tree_blocks(count), tuning::kTreeThreads, 0, stream>>>(view, points, count, open, open_count);
  });
  check_launch(stream);
}

void launch_list_searching(const BoruvkaView& view, PositionList searching, cudaStream_t stream) {
  check(cudaMemsetAsync(searching.count, 0, sizeof *searching.count, stream));
  list_searching_kernel<<<tree_blocks(view.leaves.size), tuning::kTreeThreads, 0, stream>>>(view, searching);
  check_launch(stream);
}

void launch_search_outside(const BoruvkaView& view, const OfferedPairs& pairs, cudaStream_t stream) {
  if (pairs.count == 0) return;
  for (unsigned level = 0; level < view.leaves.levels; ++level) {
    box_components_kernel<<<tree_blocks(view.leaves.counts[level]), tuning::kTreeThreads, 0, stream>>>(view, level);
    check_launch(stream);
  }
  with_dims(view, [&]<class T, unsigned D>() {
    search_outside_kernel<T, D>
        <<<tree_blocks(std::uint64_t{pairs.count} * 32), tuning::kTreeThreads, 0, stream>>>(view, pairs);
  });
  check_launch(stream);
}

void launch_name_pairs(const BoruvkaView& view, const OfferedPairs& pairs, cudaStream_t stream) {
  if (pairs.count == 0) return;
  name_pairs_kernel<<<tree_blocks(pairs.count), tuning::kTreeThreads, 0, stream>>>(view, pairs);
  check_launch(stream);
}

void launch_unite(const BoruvkaView& view, const std::uint32_t* roots, std::uint32_t count, cudaStream_t stream) {
  unite_kernel<<<tree_blocks(count), tuning::kTreeThreads, 0, stream>>>(view, roots, count);
  check_launch(stream);
}

void launch_sort_edges(const BoruvkaView& view, Edge* sorted, Scratch scratch) {
  const std::uint64_t size = view.leaves.size;
  if (size < 2) return;
  const DeviceBuffer<SumBits> heights(scratch.memory, scratch.stream, size);
  const DeviceBuffer<PositionPair> pairs(scratch.memory, scratch.stream, size);
  cub::DoubleBuffer<SumBits> keys(view.edge_heights, heights.data());
  cub::DoubleBuffer<PositionPair> values(view.edges, pairs.data());
  with_scratch(scratch, [&](void* temporary, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(temporary, bytes, keys, values, static_cast<std::int64_t>(size), 0, 63,
                                           scratch.stream);
  });
  edges_kernel<<<tree_blocks(size - 1), tuning::kTreeThreads, 0, scratch.stream>>>(keys.Current(), values.Current(),
                                                                                   size - 1, sorted);
  check_launch(scratch.stream);
}

void launch_name_by_id(const BoruvkaView& view, Edge* edges, cudaStream_t stream) {
  name_by_id_kernel<<<tree_blocks(view.leaves.size), tuning::kTreeThreads, 0, stream>>>(view.leaves, edges);
  check_launch(stream);
}

void launch_core_by_id(const BoruvkaView& view, double* core, cudaStream_t stream) {
  core_by_id_kernel<<<tree_blocks(view.leaves.size), tuning::kTreeThreads, 0, stream>>>(view, core);
  check_launch(stream);
}

}  // namespace epsflow::gpu
