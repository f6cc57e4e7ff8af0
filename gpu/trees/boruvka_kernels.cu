#include <cuda_runtime.h>

#include <cub/device/device_radix_sort.cuh>

#include <epsflow/gpu/base/error.hpp>
#include <epsflow/gpu/base/tuning.hpp>
#include <epsflow/gpu/base/with_scratch.hpp>
#include <epsflow/gpu/base/with_types.hpp>
#include <epsflow/gpu/direct/disjoint_sets.cuh>
#include <epsflow/gpu/nearest/near_frame.hpp>
#include <epsflow/gpu/nearest/point_groups.cuh>
#include <epsflow/gpu/tiles/exact_sums.cuh>
#include <epsflow/gpu/trees/boruvka_kernels.hpp>
#include <epsflow/gpu/trees/tree_threads.cuh>
#include <epsflow/index/distance.hpp>

// Which pairs are the lowest, and why pairs of equal height need no order, is in trees/boruvka.cpp. Here points offer
// heights of pairs to components by an atomic minimum. A point keeps its lowest pair, which is the only one that it
// offers to the other component. When all have offered, those whose height is the lowest of a component are named.

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

/// Returns an index in a list of *count elements for each thread with `takes`. All threads of the warp must call it.
__device__ std::uint32_t reserve_index(std::uint32_t* count, bool takes) {
  const unsigned takers = __ballot_sync(tuning::kWholeWarp, takes);
  if (takers == 0) return 0;
  const unsigned lane = threadIdx.x % 32;
  std::uint32_t first = 0;
  if (lane == 0) first = atomicAdd(count, static_cast<std::uint32_t>(__popc(takers)));
  return __shfl_sync(tuning::kWholeWarp, first, 0) + __popc(takers & ((1U << lane) - 1));
}

/// Adds `position` to the list for each thread with `takes`. All threads of the warp must call it.
__device__ void append(const PositionList& list, bool takes, std::uint32_t position) {
  const std::uint32_t at = reserve_index(list.count, takes);
  if (takes) list.positions[at] = position;
}

/// Returns the sum of p and the i-th point of its list, which is q.
template <class T, unsigned D>
__device__ double sum_of_listed(const BoruvkaView& view, std::uint32_t p, std::uint32_t i, std::uint32_t q) {
  if (view.sums != nullptr) return __ldg(view.sums + std::uint64_t{i} * view.leaves.size + p);
  return sum_between<T, D>(view.leaves, p, q);
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
  const auto sum = [&](std::uint32_t i) { return sum_of_listed<T, D>(view, p, i, listed(view, p, i)); };
  view.core[p] = view.k == 0 ? 0 : sum(view.k - 1);
  view.reach[p] = view.length == 0 ? 0 : sum(view.length - 1);
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
  // A parent may have a larger number here. All sets are flat before the first join(), which only links roots.
  view.parents[p] = lowest;
  view.edge_heights[p] = bits_of(core);
  view.edges[p] = pair_of(p, lowest);
}

__global__ void flatten_kernel(const __grid_constant__ BoruvkaView view, std::uint32_t* left) {
  const std::uint64_t p = tree_thread();
  if (p < view.leaves.size && !move_to_root(view.parents, static_cast<std::uint32_t>(p))) *left = 1;
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
      if (i >= view.k) height = fmax(height, sum_of_listed<T, D>(view, p, i, q));
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
  const std::uint32_t at = reserve_index(open_count, opens);
  if (!opens) return;
  open.points[at] = p;
  open.heights[at] = bits_of(lowest);
  open.ends[at] = end;
}

/// Returns true if a point may have a pair that is lower than all offered to its component.
__device__ bool must_search(const BoruvkaView& view, std::uint64_t p) {
  const std::uint32_t component = view.parents[p];
  return component != *view.largest && bits_of(view.reach[p]) < view.heights[component];
}

__global__ void list_searching_kernel(const __grid_constant__ BoruvkaView view, PositionList groups) {
  const std::uint64_t p = tree_thread();
  const bool searches = p < view.leaves.size && must_search(view, p);
  if (!__any_sync(tuning::kWholeWarp, searches) || threadIdx.x % 32 != 0) return;
  groups.positions[atomicAdd(groups.count, 1U)] = static_cast<std::uint32_t>(p);
}

/// A node whose children are to be searched, and no pair with them is lower than the bound.
struct NodeToSearch {
  std::uint32_t node;
  unsigned level;
  double bound;
};

/// Shared memory of one warp. Open nodes of a level are children of one node.
template <unsigned D>
struct SearchMemory {
  NodeToSearch open[kMostLevels * kDeviceBranch];
  std::uint32_t leaves[kDeviceBranch];
  double points[D][32];  ///< of four leaves
  double core[32];
  std::uint32_t components[32];
  double lo[D], hi[D];  ///< the box of the points that search
};

/// A warp searches the lowest pairs of the points of a group with other components, a point in each lane. It starts at
/// their own leaves and climbs. At each node it skips boxes that are too far, and boxes of one component if that is the
/// component of all lanes; a lane tests a box. Of leaves that remain, each lane tests all points.
template <class T, unsigned D>
class OutsideWarpSearch {
 public:
  /// first: position of the first point.
  __device__ OutsideWarpSearch(const BoruvkaView& view, SearchMemory<D>& memory, std::uint32_t first)
      : view_(view), memory_(memory), lane_(threadIdx.x % 32), first_(first) {
    const bool there = std::uint64_t{first} + lane_ < view.leaves.size;
    p_ = there ? first + lane_ : view.leaves.size - 1;
    component_ = view.parents[p_];
    core_ = view.core[p_];
    reach_ = view.reach[p_];
    searches_ = there && must_search(view, p_);
#pragma unroll
    for (unsigned k = 0; k < D; ++k) point_[k] = coordinate<T>(view.leaves, k, p_);
  }

  __device__ void run() {
    for (unsigned cuts = jumps_of_group(point_, view_.leaves.scale); cuts != 0;) {
      const unsigned from = __ffs(cuts) - 1;
      cuts &= cuts - 1;
      const unsigned end = cuts == 0 ? kGroup : __ffs(cuts) - 1;
      active_ = searches_ && lane_ >= from && lane_ < end;
      if (__any_sync(tuning::kWholeWarp, active_)) run_part();
    }
    if (searches_) view_.reach[p_] = fmax(reach_, fmax(limit_, beyond_));
  }

  /// The lowest pair that this lane has found, if its height is not infinite.
  [[nodiscard]] __device__ SumBits height() const { return height_; }
  [[nodiscard]] __device__ std::uint32_t end() const { return found_; }
  [[nodiscard]] __device__ std::uint32_t position() const { return p_; }

 private:
  /// Searches for the active lanes.
  __device__ void run_part() {
    find_box();
    refresh();
    skipped_ = __builtin_huge_val();
    near_ = false;
    climb();
    // Points that are farther inside of their component than the limit soon have a higher limit. They need not search
    // again up to the nearest box that was skipped.
#pragma unroll
    for (unsigned other = 16; other > 0; other /= 2) {
      skipped_ = fmin(skipped_, __shfl_xor_sync(tuning::kWholeWarp, skipped_, other));
    }
    if (active_ && !near_) beyond_ = skipped_;
  }

  __device__ void climb() {
    const unsigned from = __ffs(__ballot_sync(tuning::kWholeWarp, active_)) - 1;
    std::uint32_t child = __shfl_sync(tuning::kWholeWarp, p_, from) / kDeviceLeaf;
    search_leaves(child / kDeviceBranch);
    for (unsigned level = 2; level <= view_.leaves.levels && group_limit_ >= 0; ++level) {
      child /= kDeviceBranch;
      open_children(level, child / kDeviceBranch, child);
      while (open_ > 0) {
        const NodeToSearch next = memory_.open[--open_];
        __syncwarp();  // before other lanes write there
        if (!(next.bound < group_limit_)) {
          skipped_ = fmin(skipped_, next.bound);
          continue;
        }
        if (next.level > 1) {
          open_children(next.level, next.node, kMixedBox);
        } else {
          search_leaves(next.node);
        }
      }
    }
  }

  /// Finds the box, the smallest core sum and the component of the active lanes.
  __device__ void find_box() {
    write_box_of_lanes(point_, active_, memory_.lo, memory_.hi);
    group_core_ = active_ ? core_ : __builtin_huge_val();
#pragma unroll
    for (unsigned other = 16; other > 0; other /= 2) {
      group_core_ = fmin(group_core_, __shfl_xor_sync(tuning::kWholeWarp, group_core_, other));
    }
    const unsigned least = __reduce_min_sync(tuning::kWholeWarp, active_ ? component_ : ~0U);
    const unsigned most = __reduce_max_sync(tuning::kWholeWarp, active_ ? component_ : 0U);
    group_component_ = least == most ? least : kMixedBox;
  }

  /// Lowers the limits to the heights that others have found. A lane whose limit is within its reach is done.
  __device__ void refresh() {
    if (active_) {
      limit_ = fmin(limit_, sum_of(lowest_height(view_, component_)));
      active_ = reach_ < limit_;
    }
    double most = active_ ? limit_ : -1;
#pragma unroll
    for (unsigned other = 16; other > 0; other /= 2) {
      most = fmax(most, __shfl_xor_sync(tuning::kWholeWarp, most, other));
    }
    group_limit_ = most;
  }

  /// Returns true if a child of a node of `level` may hold a pair to be found, with the bound on its height.
  __device__ bool is_open(unsigned level, std::uint32_t child, double& bound) {
    const std::uint32_t count = view_.leaves.counts[level - 1];
    if (child >= count) return false;
    const std::uint32_t component = view_.box_components[level - 1][child];
    if (component != kMixedBox && component == group_component_) return false;
    const T* const boxes = static_cast<const T*>(view_.leaves.boxes[level - 1]);
    const auto end = [&](unsigned k, unsigned upper) {
      return static_cast<double>(__ldg(boxes + std::uint64_t{2 * k + upper} * count + child));
    };
    const double sum = box_sum<D>(
        memory_.lo, memory_.hi, [&](unsigned k) { return end(k, 0); }, [&](unsigned k) { return end(k, 1); });
    bound = fmax(sum, fmax(group_core_, view_.box_cores[level - 1][child]));
    if (bound < group_limit_) return true;
    skipped_ = fmin(skipped_, bound);
    return false;
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
    if (lanes == 0) return;
    if (opens) memory_.leaves[__popc(lanes & ((1U << lane_) - 1))] = leaf;
    __syncwarp();
    const unsigned count = __popc(lanes);
    for (unsigned at = 0; at < count; at += kChunkLeaves) test_chunk(at, min(count - at, kChunkLeaves));
    refresh();
    __syncwarp();  // before the leaves are overwritten
  }

  /// Tests the points of `count` leaves, from number `at` of those in memory on.
  __device__ void test_chunk(unsigned at, unsigned count) {
    unsigned wanted = 0;  // a bit for each point that this lane must test
    for (unsigned i = 0; i < count; ++i) {
      const std::uint32_t leaf = memory_.leaves[at + i];
      if (active_ && leaf_is_near(leaf)) wanted |= kLeafBits << (i * kDeviceLeaf);
    }
    near_ |= wanted != 0;
    const unsigned lanes = __ballot_sync(tuning::kWholeWarp, wanted != 0);
    if (lanes == 0) return;
    const unsigned mine = lane_ / kDeviceLeaf;
    const std::uint64_t position =
        mine < count ? std::uint64_t{memory_.leaves[at + mine]} * kDeviceLeaf + lane_ % kDeviceLeaf : view_.leaves.size;
    const bool there = position < view_.leaves.size;
    const auto q = static_cast<std::uint32_t>(there ? position : 0);
    double other[D];
#pragma unroll
    for (unsigned k = 0; k < D; ++k) other[k] = coordinate<T>(view_.leaves, k, q);
    const double other_core = view_.core[q];
    const std::uint32_t other_component = view_.parents[q];
    if (__popc(lanes) <= tuning::kFewSearching) {
      for (unsigned left = lanes; left != 0; left &= left - 1) {
        test_for_lane(__ffs(left) - 1, there, q, other, other_core, other_component);
      }
      return;
    }
#pragma unroll
    for (unsigned k = 0; k < D; ++k) memory_.points[k][lane_] = other[k];
    memory_.core[lane_] = other_core;
    memory_.components[lane_] = other_component;
    wanted &= __ballot_sync(tuning::kWholeWarp, there);
    __syncwarp();
    unsigned found = kNoLane;
    for (; wanted != 0; wanted &= wanted - 1) {
      const unsigned c = __ffs(wanted) - 1;
      if (memory_.components[c] == component_) continue;
      const double height = height_with([&](unsigned k) { return memory_.points[k][c]; }, memory_.core[c]);
      if (!(height < limit_)) continue;
      limit_ = height;
      found = c;
    }
    const std::uint32_t end = __shfl_sync(tuning::kWholeWarp, q, found);
    if (found != kNoLane) keep(end);
    __syncwarp();  // before the points are overwritten
  }

  /// Returns true if a leaf may hold a pair for this lane.
  __device__ bool leaf_is_near(std::uint32_t leaf) {
    const std::uint32_t component = view_.box_components[0][leaf];
    if (component != kMixedBox && component == component_) return false;
    const std::uint32_t count = view_.leaves.counts[0];
    const T* const boxes = static_cast<const T*>(view_.leaves.boxes[0]);
    const auto end = [&](unsigned k, unsigned upper) {
      return static_cast<double>(__ldg(boxes + std::uint64_t{2 * k + upper} * count + leaf));
    };
    const double sum = box_sum<D>(
        point_, point_, [&](unsigned k) { return end(k, 0); }, [&](unsigned k) { return end(k, 1); });
    if (sum < limit_) return true;
    skipped_ = fmin(skipped_, sum);
    return false;
  }

  template <class Other>
  __device__ double height_with(Other other, double other_core) const {
    const double sum = index::squared_distance<D>([&](std::size_t k) { return point_[k]; }, other, D);
    return fmax(sum, fmax(core_, other_core));
  }

  /// Tests the points of all lanes for the point of one lane.
  __device__ void test_for_lane(unsigned lane, bool there, std::uint32_t q, const double (&other)[D], double other_core,
                                std::uint32_t other_component) {
    double point[D];
#pragma unroll
    for (unsigned k = 0; k < D; ++k) point[k] = __shfl_sync(tuning::kWholeWarp, point_[k], lane);
    const double core = __shfl_sync(tuning::kWholeWarp, core_, lane);
    const std::uint32_t component = __shfl_sync(tuning::kWholeWarp, component_, lane);
    const double sum =
        index::squared_distance<D>([&](std::size_t k) { return point[k]; }, [&](std::size_t k) { return other[k]; }, D);
    SumBits height = kInfiniteSum;
    if (there && other_component != component) height = bits_of(fmax(sum, fmax(core, other_core)));
    const SumBits limit = bits_of(__shfl_sync(tuning::kWholeWarp, limit_, lane));
    if (!__any_sync(tuning::kWholeWarp, height < limit)) return;
    SumBits lowest = height;
#pragma unroll
    for (unsigned distance = 16; distance > 0; distance /= 2) {
      lowest = min(lowest, __shfl_xor_sync(tuning::kWholeWarp, lowest, distance));
    }
    const unsigned from = __ffs(__ballot_sync(tuning::kWholeWarp, height == lowest)) - 1;
    const std::uint32_t end = __shfl_sync(tuning::kWholeWarp, q, from);
    if (lane_ != lane) return;
    limit_ = sum_of(lowest);
    keep(end);
  }

  /// Keeps the pair with `end`, whose height is the limit.
  __device__ void keep(std::uint32_t end) {
    found_ = end;
    height_ = bits_of(limit_);
    offer(view_, component_, height_);
  }

  static constexpr unsigned kChunkLeaves = 32 / kDeviceLeaf;
  static constexpr unsigned kLeafBits = (1U << kDeviceLeaf) - 1;
  static constexpr unsigned kNoLane = 32;

  const BoruvkaView& view_;
  SearchMemory<D>& memory_;
  unsigned lane_;
  std::uint32_t first_;
  std::uint32_t p_;
  std::uint32_t component_;
  double core_;
  double reach_;
  double point_[D];
  bool searches_;
  bool active_ = false;                  ///< searches, and is in the part that is searched
  double limit_ = __builtin_huge_val();  ///< only lower pairs are of interest
  SumBits height_ = kInfiniteSum;        ///< of the pair with found_
  std::uint32_t found_ = 0;
  std::uint32_t group_component_ = kMixedBox;  ///< of all active lanes
  double group_core_ = 0;                      ///< the smallest core sum of them
  double group_limit_ = 0;                     ///< the largest limit of them; negative if there are none
  double skipped_ = 0;                         ///< the smallest bound of a box that this lane has skipped
  double beyond_ = 0;                          ///< all pairs of this lane's point with others are at least as high
  bool near_ = false;                          ///< this lane has tested points
  unsigned open_ = 0;
};

template <class T, unsigned D>
__global__ void __launch_bounds__(tuning::kTreeThreads)
    search_outside_kernel(const __grid_constant__ BoruvkaView view, const std::uint32_t* groups, OfferedPairs pairs) {
  __shared__ SearchMemory<D> memory[kWarps];
  const std::uint64_t i = tree_thread();
  if (i >= pairs.count) return;
  OutsideWarpSearch<T, D> search(view, memory[threadIdx.x / 32], groups[i / 32]);
  search.run();
  pairs.points[i] = search.position();
  pairs.heights[i] = search.height();
  pairs.ends[i] = search.end();
  if (search.height() != kInfiniteSum) offer(view, view.parents[search.end()], search.height());
}

__global__ void list_searching_points_kernel(const __grid_constant__ BoruvkaView view, PositionList points) {
  const std::uint64_t p = tree_thread();
  append(points, p < view.leaves.size && must_search(view, p), static_cast<std::uint32_t>(p));
}

/// Keeps the lowest of the pairs that the lanes of a warp offer for one row, and offers it to the component of the row.
/// The other component is offered it only when it can no longer be replaced: a height without its pair would be wrong.
__device__ void keep_lowest(const BoruvkaView& view, const OfferedPairs& pairs, std::uint32_t row, SumBits height,
                            std::uint32_t end) {
  SumBits lowest = height;
#pragma unroll
  for (unsigned distance = 16; distance > 0; distance /= 2) {
    lowest = min(lowest, __shfl_xor_sync(tuning::kWholeWarp, lowest, distance));
  }
  SumBits before = threadIdx.x % 32 == 0 ? pairs.heights[row] : 0;
  before = __shfl_sync(tuning::kWholeWarp, before, 0);
  if (lowest == kInfiniteSum || !(lowest < before)) return;
  const unsigned from = __ffs(__ballot_sync(tuning::kWholeWarp, height == lowest)) - 1;
  const std::uint32_t found = __shfl_sync(tuning::kWholeWarp, end, from);
  if (threadIdx.x % 32 != 0) return;
  pairs.heights[row] = lowest;
  pairs.ends[row] = found;
  offer(view, view.parents[pairs.points[row]], lowest);
}

/// One warp for each row, a random point in each lane.
template <class T>
__global__ void search_at_random_kernel(const __grid_constant__ BoruvkaView view,
                                        const __grid_constant__ OrderedPoints points, OfferedPairs pairs) {
  const std::uint64_t row = tree_thread() / 32;
  if (row >= pairs.count) return;
  const std::uint32_t p = pairs.points[row];
  const std::uint32_t component = view.parents[p];
  SumBits offered = threadIdx.x % 32 == 0 ? lowest_height(view, component) : 0;
  offered = __shfl_sync(tuning::kWholeWarp, offered, 0);
  if (offered != kInfiniteSum) return;
  std::uint64_t bits = (std::uint64_t{p} << 5U | threadIdx.x % 32) * 0x9E3779B97F4A7C15U;
  bits ^= bits >> 32U;
  bits *= 0xD6E8FEB86659FD93U;
  const auto q = static_cast<std::uint32_t>((bits >> 32U) * view.leaves.size >> 32U);
  SumBits height = kInfiniteSum;
  if (view.parents[q] != component) {
    height = bits_of(fmax(exact_sum<T>(points, p, q), fmax(view.core[p], view.core[q])));
  }
  keep_lowest(view, pairs, static_cast<std::uint32_t>(row), height, q);
}

__global__ void offer_to_ends_kernel(const __grid_constant__ BoruvkaView view, OfferedPairs pairs) {
  const std::uint64_t i = tree_thread();
  if (i >= pairs.count || pairs.heights[i] == kInfiniteSum) return;
  offer(view, view.parents[pairs.ends[i]], pairs.heights[i]);
}

__global__ void fill_heights_kernel(OfferedPairs pairs) {
  const std::uint64_t i = tree_thread();
  if (i < pairs.count) pairs.heights[i] = kInfiniteSum;
}

__global__ void limit_rows_kernel(const __grid_constant__ BoruvkaView view, SearchingRows rows) {
  const std::uint64_t i = tree_thread();
  if (i >= rows.count) return;
  const std::uint32_t p = rows.positions[i];
  const double limit = sum_of(lowest_height(view, view.parents[p]));
  rows.limits[i] = view.reach[p] < limit ? limit : -1;
}

__global__ void reach_rows_kernel(const __grid_constant__ BoruvkaView view, SearchingRows rows) {
  const std::uint64_t i = tree_thread();
  if (i >= rows.count) return;
  const std::uint32_t p = rows.positions[i];
  view.reach[p] = fmax(view.reach[p], sum_of(view.heights[view.parents[p]]));
}

/// One warp for each row.
template <class T>
__global__ void offer_candidates_kernel(const __grid_constant__ BoruvkaView view,
                                        const __grid_constant__ OrderedPoints points,
                                        const __grid_constant__ CandidateColumns slots, OfferedPairs pairs,
                                        std::uint32_t* lost) {
  const std::uint64_t row = tree_thread() / 32;
  if (row >= pairs.count) return;
  const unsigned lane = threadIdx.x % 32;
  const std::uint32_t found = slots.counts[row];
  if (found == 0) return;
  const std::uint32_t p = pairs.points[row];
  const double core = view.core[p];
  double lowest = sum_of(kInfiniteSum);
  std::uint32_t end = 0;
  for (std::uint32_t i = lane; i < min(found, slots.capacity); i += 32) {
    const std::uint32_t q = slots.columns[row * slots.capacity + i];
    const double least = fmax(core, view.core[q]);
    if (!(least < lowest)) continue;
    const double height = fmax(least, exact_sum<T>(points, p, q));
    if (!(height < lowest)) continue;
    lowest = height;
    end = q;
  }
  keep_lowest(view, pairs, static_cast<std::uint32_t>(row), bits_of(lowest), end);
  __syncwarp();
  if (lane != 0) return;
  slots.counts[row] = 0;
  if (found > slots.capacity) atomicAdd(lost, 1U);
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
      DisjointSets(view.parents).join(static_cast<std::uint32_t>(pair >> 32), static_cast<std::uint32_t>(pair)).ended;
  if (ended == kNotCore) return;
  view.edge_heights[ended] = height;
  view.edges[ended] = pair;
}

__global__ void edges_kernel(const SumBits* heights, const PositionPair* pairs, std::uint64_t count, Edge* edges) {
  const std::uint64_t i = tree_thread();
  if (i >= count) return;
  edges[i] = {sum_of(heights[i]), static_cast<std::uint32_t>(pairs[i] >> 32), static_cast<std::uint32_t>(pairs[i])};
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

void launch_flatten(const BoruvkaView& view, std::uint32_t* left, cudaStream_t stream) {
  check(cudaMemsetAsync(left, 0, sizeof *left, stream));
  flatten_kernel<<<tree_blocks(view.leaves.size), tuning::kTreeThreads, 0, stream>>>(view, left);
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

void launch_list_searching(const BoruvkaView& view, PositionList groups, cudaStream_t stream) {
  check(cudaMemsetAsync(groups.count, 0, sizeof *groups.count, stream));
  list_searching_kernel<<<tree_blocks(view.leaves.size), tuning::kTreeThreads, 0, stream>>>(view, groups);
  check_launch(stream);
}

void launch_search_outside(const BoruvkaView& view, const std::uint32_t* groups, const OfferedPairs& pairs,
                           cudaStream_t stream) {
  if (pairs.count == 0) return;
  for (unsigned level = 0; level < view.leaves.levels; ++level) {
    box_components_kernel<<<tree_blocks(view.leaves.counts[level]), tuning::kTreeThreads, 0, stream>>>(view, level);
    check_launch(stream);
  }
  with_dims(view, [&]<class T, unsigned D>() {
    search_outside_kernel<T, D><<<tree_blocks(pairs.count), tuning::kTreeThreads, 0, stream>>>(view, groups, pairs);
  });
  check_launch(stream);
}

void launch_list_searching_points(const BoruvkaView& view, PositionList points, cudaStream_t stream) {
  check(cudaMemsetAsync(points.count, 0, sizeof *points.count, stream));
  list_searching_points_kernel<<<tree_blocks(view.leaves.size), tuning::kTreeThreads, 0, stream>>>(view, points);
  check_launch(stream);
}

void launch_fill_heights(const OfferedPairs& pairs, cudaStream_t stream) {
  fill_heights_kernel<<<tree_blocks(pairs.count), tuning::kTreeThreads, 0, stream>>>(pairs);
  check_launch(stream);
}

void launch_offer_to_ends(const BoruvkaView& view, const OfferedPairs& pairs, cudaStream_t stream) {
  offer_to_ends_kernel<<<tree_blocks(pairs.count), tuning::kTreeThreads, 0, stream>>>(view, pairs);
  check_launch(stream);
}

void launch_search_at_random(const BoruvkaView& view, const OrderedPoints& points, const OfferedPairs& pairs,
                             cudaStream_t stream) {
  with_types<0>(points.precision, points.dims, [&]<class T, unsigned D>() {
    search_at_random_kernel<T><<<tree_blocks(pairs.count * 32), tuning::kTreeThreads, 0, stream>>>(view, points, pairs);
  });
  check_launch(stream);
}

void launch_limit_rows(const BoruvkaView& view, const SearchingRows& rows, cudaStream_t stream) {
  limit_rows_kernel<<<tree_blocks(rows.count), tuning::kTreeThreads, 0, stream>>>(view, rows);
  check_launch(stream);
}

void launch_offer_candidates(const BoruvkaView& view, const OrderedPoints& points, const CandidateColumns& slots,
                             const OfferedPairs& pairs, std::uint32_t* lost, cudaStream_t stream) {
  check(cudaMemsetAsync(lost, 0, sizeof *lost, stream));
  with_types<0>(points.precision, points.dims, [&]<class T, unsigned D>() {
    offer_candidates_kernel<T>
        <<<tree_blocks(pairs.count * 32), tuning::kTreeThreads, 0, stream>>>(view, points, slots, pairs, lost);
  });
  check_launch(stream);
}

void launch_reach_rows(const BoruvkaView& view, const SearchingRows& rows, cudaStream_t stream) {
  reach_rows_kernel<<<tree_blocks(rows.count), tuning::kTreeThreads, 0, stream>>>(view, rows);
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

void launch_core_by_id(const BoruvkaView& view, double* core, cudaStream_t stream) {
  core_by_id_kernel<<<tree_blocks(view.leaves.size), tuning::kTreeThreads, 0, stream>>>(view, core);
  check_launch(stream);
}

}  // namespace epsflow::gpu
