#include <cuda_runtime.h>

#include <algorithm>
#include <type_traits>

#include <epsflow/gpu/base/error.hpp>
#include <epsflow/gpu/base/tuning.hpp>
#include <epsflow/gpu/base/with_types.hpp>
#include <epsflow/gpu/nearest/near_frame.hpp>
#include <epsflow/gpu/nearest/nearest_kernels.hpp>
#include <epsflow/gpu/nearest/point_groups.cuh>

// How a warp searches. Its lanes are 32 consecutive points along the curve: a group. It goes from box to box and tests
// all children of a node at a time, one in each lane. Leaves that are near enough are processed in chunks of four:
// their points are put into shared memory, and each lane tests all of them in float32 (near_frame.hpp). For candidates
// that pass, which are few, it computes the float64 sum.
//
// A box is skipped if it is not nearer than the largest k-th distance of all lanes. The k-th distances are known well
// enough from the start, from the other points of the group, in float32.
//
// If the curve jumps within a group, the box of the group would contain much of the space between, and the few warps of
// such groups would run longer than all others. So a group is divided at its jumps, and its parts are searched one
// after another while the other lanes idle.

namespace epsflow::gpu {
namespace {

constexpr unsigned kThreads = tuning::kNearestThreads;
constexpr unsigned kWarps = kThreads / 32;
/// Leaves of a chunk, and of a group.
constexpr unsigned kChunkLeaves = 32 / kDeviceLeaf;
constexpr unsigned kGroupLeaves = kGroup / kDeviceLeaf;
constexpr unsigned kNoLeaf = ~0U;
static_assert(kDeviceBranch == 32 && kDeviceBranch % kGroupLeaves == 0, "a group's leaves have one parent");

std::uint32_t blocks_of(std::uint64_t items, unsigned threads) {
  return static_cast<std::uint32_t>((items + threads - 1) / threads);
}

template <class T, unsigned D>
__global__ void curve_numbers_kernel(PointsOnDevice points, index::Curve curve, std::uint64_t* numbers,
                                     std::uint32_t* ids) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= points.size) return;
  const T* const point = static_cast<const T*>(points.data) + i * D;
  numbers[i] = curve.number<D>([&](std::size_t k) { return point[k]; });
  ids[i] = static_cast<std::uint32_t>(i);
}

template <class T, unsigned D>
__global__ void unresolved_kernel(LeafView leaves, const std::uint64_t* numbers, std::uint32_t* count) {
  constexpr std::uint32_t kFar = 4 * kGroup;
  const std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x;
  bool unresolved = false;
  if (i + kFar < leaves.size && numbers[i] == numbers[i + kFar]) {
    const T* const coordinates = static_cast<const T*>(leaves.coordinates);
#pragma unroll
    for (unsigned k = 0; k < D; ++k) {
      const T* const from = coordinates + std::uint64_t{k} * leaves.size + i;
      unresolved |= from[0] != from[kFar];
    }
  }
  const unsigned lanes = __ballot_sync(tuning::kWholeWarp, unresolved);
  if (threadIdx.x % 32 == 0 && lanes != 0) atomicAdd(count, __popc(lanes));
}

/// Finds the lower and upper end of one dimension of each leaf.
template <class T>
__global__ void leaf_boxes_kernel(LeafView leaves) {
  const std::uint32_t leaf = blockIdx.x * kThreads + threadIdx.x;
  if (leaf >= leaves.counts[0]) return;
  const std::uint64_t first = std::uint64_t{leaf} * kDeviceLeaf;
  const std::uint64_t end = min(first + kDeviceLeaf, std::uint64_t{leaves.size});
  const T* const from = static_cast<const T*>(leaves.coordinates) + std::uint64_t{blockIdx.y} * leaves.size;
  T lo = from[first], hi = lo;
  for (std::uint64_t i = first + 1; i < end; ++i) {
    lo = min(lo, from[i]);
    hi = max(hi, from[i]);
  }
  T* const boxes = static_cast<T*>(leaves.boxes[0]) + std::uint64_t{2 * blockIdx.y} * leaves.counts[0];
  boxes[leaf] = lo;
  boxes[std::uint64_t{leaves.counts[0]} + leaf] = hi;
}

/// Finds the same ends for each node of a higher level.
template <class T>
__global__ void node_boxes_kernel(const __grid_constant__ LeafView leaves, unsigned level) {
  const std::uint32_t node = blockIdx.x * kThreads + threadIdx.x;
  const std::uint32_t count = leaves.counts[level], below = leaves.counts[level - 1];
  if (node >= count) return;
  const T* const lows = static_cast<const T*>(leaves.boxes[level - 1]) + std::uint64_t{2 * blockIdx.y} * below;
  const std::uint32_t first = node * kDeviceBranch;
  T lo = lows[first], hi = lows[std::uint64_t{below} + first];
  for (std::uint32_t i = first + 1; i < min(first + kDeviceBranch, below); ++i) {
    lo = min(lo, lows[i]);
    hi = max(hi, lows[std::uint64_t{below} + i]);
  }
  T* const boxes = static_cast<T*>(leaves.boxes[level]) + std::uint64_t{2 * blockIdx.y} * count;
  boxes[node] = lo;
  boxes[std::uint64_t{count} + node] = hi;
}

/// Shift of the level in the number of an open node. There are fewer than kMostGpuPoints / 256 nodes of level 1.
constexpr unsigned kLevelShift = 28;
constexpr std::uint32_t kNodeMask = (1U << kLevelShift) - 1;

/// A node whose children are to be searched.
struct OpenNode {
  std::uint32_t node;  ///< the node and its level
  float bound;         ///< distance of its box, see WarpSearch::bound_of()
};

/// Shared memory of one warp. Open nodes of a level are siblings below the group's own ancestor, or, on the way down,
/// children of one node of each level.
template <unsigned D>
struct WarpMemory {
  static constexpr unsigned kOpenNodes = 2 * kMostLevels * kDeviceBranch;

  alignas(16) float near[D][32];  ///< coordinates of the chunk, relative to the frame
  double exact[D][32];
  std::uint32_t positions[32];  ///< of the points of the chunk
  double lo[D], hi[D];          ///< the box of the group
  OpenNode open[kOpenNodes];
  std::uint32_t leaves[kDeviceBranch + kChunkLeaves];  ///< leaves to be searched
};

/// Best: Smallest or SmallestWithIds, of K values.
template <class T, unsigned D, unsigned K, class Best>
class WarpSearch {
 public:
  __device__ __forceinline__ WarpSearch(const LeafView& leaves, std::uint32_t k, WarpMemory<D>& memory)
      : leaves_(leaves),
        memory_(memory),
        lane_(threadIdx.x % 32),
        best_(k, kInfinity),
        nearest_in_group_(k, kInfinity) {}

  /// Searches the 32 points from `first` on. If there are fewer, the last one is searched more than once.
  __device__ __forceinline__ void run(std::uint32_t first) {
    const std::uint32_t own = min(first + lane_, leaves_.size - 1);
    own_leaf_ = own / kDeviceLeaf;
    own_index_ = own % kDeviceLeaf;
#pragma unroll
    for (unsigned k = 0; k < D; ++k) point_[k] = coordinate(k, own);
    for (unsigned cuts = jumps_of_group(point_, leaves_.scale); cuts != 0;) {
      const unsigned from = __ffs(cuts) - 1;
      cuts &= cuts - 1;
      const unsigned end = cuts == 0 ? kGroup : __ffs(cuts) - 1;
      run_part(first, from, end);
    }
  }

  /// Keeps only points after this one, in the order of sums and positions. Call it on all lanes, before run().
  __device__ __forceinline__ void start_after(double sum, std::uint32_t position) {
    after_ = sum;
    after_id_ = position;
  }

  /// Calls f(j, sum), or f(j, position), for the j-th nearest point, j from 1 to k.
  template <class F>
  __device__ __forceinline__ void for_each_found(std::uint32_t k, F f) const {
    best_.for_each(k, f);
  }

 private:
  static constexpr float kInfinity = __builtin_huge_valf();
  static constexpr bool kWithIds = !std::is_same_v<Best, Smallest<double, K>>;

  /// Searches for the lanes [from, end).
  __device__ __forceinline__ void run_part(std::uint32_t first, unsigned from, unsigned end) {
    active_ = lane_ >= from && lane_ < end;
    all_zero_ = false;
    open_ = queued_ = own_next_ = 0;
    write_box_of_lanes(point_, active_, memory_.lo, memory_.hi);
    frame_ = NearFrame<D>::of_box(memory_.lo, memory_.hi, leaves_.scale);
#pragma unroll
    for (unsigned k = 0; k < D; ++k) near_[k] = frame_.near(k, point_[k]);
    if (K <= 16 && after_ < 0) find_first_limit(from, min(end, leaves_.size - first));
    set_limit(limit_);

    sort_own_leaves(from);
    climb_ = leaves_.levels;
    while (!all_zero_) {
      std::uint32_t leaf = 0;
      if (own_leaves_wait()) {
        leaf = next_own_leaf();
      } else if (queued_ >= kChunkLeaves || (queued_ > 0 && climb_ < 2 && open_ == 0)) {
        leaf = next_queued_leaf();
      } else if (climb_ >= 2) {
        open_children(climb_, ancestor(first, climb_), ancestor(first, climb_ - 1));
        --climb_;
        continue;
      } else if (open_ > 0) {
        --open_;
        const OpenNode next = memory_.open[open_];
        __syncwarp();  // before other lanes write there
        if (next.bound > reach_) continue;
        if (const unsigned level = next.node >> kLevelShift; level > 1) {
          open_children(level, next.node & kNodeMask, kNoLeaf);
        } else {
          queue_leaves(next.node & kNodeMask);
        }
        continue;
      } else {
        return;
      }
      search_chunk(leaf);
    }
  }

  __device__ __forceinline__ double coordinate(unsigned k, std::uint32_t position) const {
    return static_cast<double>(
        __ldg(static_cast<const T*>(leaves_.coordinates) + std::uint64_t{k} * leaves_.size + position));
  }
  /// Returns an end of a box of a level: the lower one if `end` is 0, the upper one if it is 1.
  __device__ __forceinline__ double box_end(unsigned level, unsigned k, unsigned end, std::uint32_t box) const {
    const T* const boxes = static_cast<const T*>(leaves_.boxes[level]);
    return static_cast<double>(__ldg(boxes + std::uint64_t{2 * k + end} * leaves_.counts[level] + box));
  }
  /// Returns the node of a level that contains a position. Node i of level l has the boxes from 32 i on of level l − 1.
  __device__ __forceinline__ static std::uint32_t ancestor(std::uint32_t position, unsigned level) {
    return (position / kDeviceLeaf) >> (5 * level);
  }

  /// Finds a limit from the other points of the part, which are [from, end).
  __device__ __forceinline__ void find_first_limit(std::uint32_t from, std::uint32_t end) {
#pragma unroll
    for (unsigned k = 0; k < D; ++k) memory_.near[k][lane_] = near_[k];
    __syncwarp();
    for (std::uint32_t c = from; c < end; ++c) {
      float sum = near_sum<D>([&](unsigned k) { return near_[k]; }, [&](unsigned k) { return memory_.near[k][c]; });
      // Lanes that repeat the last point exclude it as well.
      if (c == min(lane_, end - 1)) sum = kInfinity;
      if (active_) nearest_in_group_.add(sum);
    }
    if (active_) limit_ = frame_.limit_above(nearest_in_group_.last());
    __syncwarp();
  }

  /// Sets the lane's limit and the values derived from it.
  __device__ __forceinline__ void set_limit(double limit) {
    limit_ = limit;
    filter_limit_ = frame_.filter_limit(limit);
    const float scaled = active_ ? __double2float_ru(limit * frame_.scale * frame_.scale) : 0;
    reach_ = __uint_as_float(__reduce_max_sync(tuning::kWholeWarp, __float_as_uint(scaled)));
  }

  /// Returns a lower bound on the sums of a box, in units of the frame. A box with a bound over reach_ contains nothing
  /// below the limit of any lane: scaling by powers of two is monotone, and limits are scaled alike and rounded up.
  __device__ __forceinline__ float bound_of(unsigned level, std::uint32_t box) const {
    const double sum = box_sum<D>(
        memory_.lo, memory_.hi, [&](unsigned k) { return box_end(level, k, 0, box); },
        [&](unsigned k) { return box_end(level, k, 1, box); });
    return __double2float_rd(sum * frame_.scale * frame_.scale);
  }

  /// Sorts the leaves of the group's own node, nearest first, so that the limits soon become small.
  __device__ __forceinline__ void sort_own_leaves(unsigned from) {
    const std::uint32_t group_leaf = __shfl_sync(tuning::kWholeWarp, own_leaf_, from);
    own_node_ = group_leaf / kDeviceBranch;
    const std::uint32_t leaf = own_node_ * kDeviceBranch + lane_;
    const bool there = leaf < leaves_.counts[0];
    // Bounds are at least 0, so their bits are ordered. The lowest bits hold the lane. Own leaves come first.
    unsigned key = __float_as_uint(kInfinity) | lane_;  // no bound is infinite, because bounds are rounded down
    if (there && leaf / kGroupLeaves == group_leaf / kGroupLeaves) {
      key = lane_;
    } else if (there) {
      key = (max(__float_as_uint(bound_of(0, leaf)), 32U) & ~31U) | lane_;
    }
    own_keys_ = sorted(key);
    own_count_ = __popc(__ballot_sync(tuning::kWholeWarp, there));
  }
  __device__ __forceinline__ bool own_leaves_wait() {
    const unsigned nearest = __shfl_sync(tuning::kWholeWarp, own_keys_, own_next_ % 32) & ~31U;
    // Keys of other leaves are at least 32, also for a bound of 0.
    if (own_next_ >= own_count_ || nearest > max(__float_as_uint(reach_), 32U)) own_next_ = own_count_;
    return own_next_ < own_count_;
  }
  __device__ __forceinline__ std::uint32_t next_own_leaf() {
    const unsigned mine = own_next_ + lane_ / kDeviceLeaf;
    const unsigned lane = __shfl_sync(tuning::kWholeWarp, own_keys_, mine % 32) % 32;
    own_next_ += kChunkLeaves;
    return mine < own_count_ ? own_node_ * kDeviceBranch + lane : kNoLeaf;
  }

  /// Returns true if several passes make one list.
  __device__ __forceinline__ static constexpr bool in_order() {
    if constexpr (kWithIds) return Best::kInOrder;
    return false;
  }
  __device__ __forceinline__ bool is_after(double sum, std::uint32_t id) const {
    if constexpr (in_order()) return Best::is_before(after_, after_id_, sum, id);
    return true;
  }

  /// Returns the keys of all lanes in order, by a bitonic sort.
  __device__ __forceinline__ unsigned sorted(unsigned key) const {
#pragma unroll
    for (unsigned size = 2; size <= 32; size *= 2) {
#pragma unroll
      for (unsigned stride = size / 2; stride > 0; stride /= 2) {
        const unsigned other = __shfl_xor_sync(tuning::kWholeWarp, key, stride);
        const bool ascending = (lane_ & size) == 0;
        const bool first = (lane_ & stride) == 0;
        key = ascending == first ? min(key, other) : max(key, other);
      }
    }
    return key;
  }

  /// Opens the children of a node of level 2 or higher that are within reach, except one.
  __device__ __forceinline__ void open_children(unsigned level, std::uint32_t node, std::uint32_t except) {
    const std::uint32_t child = node * kDeviceBranch + lane_;
    float bound = kInfinity;
    bool within = child < leaves_.counts[level - 1] && child != except;
    if (within) {
      bound = bound_of(level - 1, child);
      within = !(bound > reach_);
    }
    const unsigned lanes = __ballot_sync(tuning::kWholeWarp, within);
    if (within) {
      const unsigned at = open_ + __popc(lanes & ((1U << lane_) - 1));
      memory_.open[at] = {(level - 1) << kLevelShift | child, bound};
    }
    open_ += __popc(lanes);
    __syncwarp();
  }

  /// Queues the leaves of a node of level 1 that are within reach. Fewer than a chunk may be queued before.
  __device__ __forceinline__ void queue_leaves(std::uint32_t node) {
    const std::uint32_t leaf = node * kDeviceBranch + lane_;
    const bool within = leaf < leaves_.counts[0] && !(bound_of(0, leaf) > reach_);
    const unsigned lanes = __ballot_sync(tuning::kWholeWarp, within);
    if (within) memory_.leaves[queued_ + __popc(lanes & ((1U << lane_) - 1))] = leaf;
    queued_ += __popc(lanes);
    __syncwarp();
  }
  /// Returns the lane's leaf of the last queued ones, at most a chunk.
  __device__ __forceinline__ std::uint32_t next_queued_leaf() {
    const unsigned count = min(queued_, kChunkLeaves);
    const unsigned mine = lane_ / kDeviceLeaf;
    queued_ -= count;
    return mine < count ? memory_.leaves[queued_ + mine] : kNoLeaf;
  }

  /// Searches a chunk. leaf: the leaf of this lane's candidate, the same for eight lanes, or kNoLeaf.
  __device__ __forceinline__ void search_chunk(std::uint32_t leaf) {
    const std::uint32_t position = leaf * kDeviceLeaf + lane_ % kDeviceLeaf;
    const bool there = leaf != kNoLeaf && position < leaves_.size;
#pragma unroll
    for (unsigned k = 0; k < D; ++k) {
      const double at = there ? coordinate(k, position) : 0;
      memory_.exact[k][lane_] = at;
      memory_.near[k][lane_] = frame_.near(k, at);
    }
    if constexpr (kWithIds) memory_.positions[lane_] = position;
    const unsigned valid = __ballot_sync(tuning::kWholeWarp, there);
    unsigned passed = passing() & (active_ ? valid : 0);
    // Excludes the point itself.
#pragma unroll
    for (unsigned part = 0; part < kChunkLeaves; ++part) {
      if (__shfl_sync(tuning::kWholeWarp, leaf, part * kDeviceLeaf) == own_leaf_) {
        passed &= ~(1U << (part * kDeviceLeaf + own_index_));
      }
    }
    while (__any_sync(tuning::kWholeWarp, passed != 0)) {
      if (passed == 0) continue;
      const unsigned c = __ffs(passed) - 1;
      passed &= passed - 1;
      const double sum = index::squared_distance<D>([&](std::size_t k) { return point_[k]; },
                                                    [&](std::size_t k) { return memory_.exact[k][c]; }, D);
      if constexpr (kWithIds) {
        const std::uint32_t id = memory_.positions[c];
        if (best_.takes(sum, id) && is_after(sum, id)) best_.add(sum, id);
      } else {
        if (sum < best_.last()) best_.add(sum);
      }
    }
    set_limit(fmin(limit_, best_.last()));
    // Points with equal coordinates stay in the order of their ids, so that the next pass continues after them.
    if (!in_order()) all_zero_ = __all_sync(tuning::kWholeWarp, !active_ || best_.last() == 0);
    __syncwarp();  // before the next chunk is written
  }

  /// Returns bit c if candidate c of the chunk may be below this lane's limit.
  __device__ __forceinline__ unsigned passing() {
    __syncwarp();
    unsigned passed = 0;
#pragma unroll
    for (unsigned c = 0; c < 32; c += 4) {
      float sums[4] = {};
#pragma unroll
      for (unsigned k = 0; k < D; ++k) {
        const float4 at = *reinterpret_cast<const float4*>(&memory_.near[k][c]);
        sums[0] = add_square(near_[k] - at.x, sums[0]);
        sums[1] = add_square(near_[k] - at.y, sums[1]);
        sums[2] = add_square(near_[k] - at.z, sums[2]);
        sums[3] = add_square(near_[k] - at.w, sums[3]);
      }
#pragma unroll
      for (unsigned i = 0; i < 4; ++i) passed |= passes_filter(sums[i], filter_limit_) ? 1U << (c + i) : 0;
    }
    return passed;
  }

  const LeafView& leaves_;
  WarpMemory<D>& memory_;
  unsigned lane_;
  std::uint32_t own_leaf_ = 0;
  unsigned own_index_ = 0;
  double point_[D];
  float near_[D];
  NearFrame<D> frame_;
  Best best_;
  double after_ = -1;  ///< with ids: the last one of the pass before
  std::uint32_t after_id_ = 0;
  Smallest<float, K> nearest_in_group_;
  double limit_ = __builtin_huge_val();  ///< the k-th sum is below it, or is found and equals it
  float filter_limit_ = kInfinity;
  float reach_ = kInfinity;  ///< the largest limit of the part's lanes, in units of the frame, rounded up
  bool active_ = true;       ///< the lane is in the part that is searched
  bool all_zero_ = false;    ///< no point can be nearer than those found by all lanes
  std::uint32_t own_node_ = 0;
  unsigned own_keys_ = 0;   ///< in lane i: the i-th nearest leaf of the own node, with its bound
  unsigned own_count_ = 0;  ///< number of leaves of the own node; own_next_ of them have been searched
  unsigned own_next_ = 0;
  unsigned climb_ = 0;  ///< the own ancestors from this level down to 2 are still to be opened
  unsigned open_ = 0;
  unsigned queued_ = 0;
};

template <class T, unsigned D, unsigned K>
__global__ void __launch_bounds__(kThreads)
    nearest_kernel(const __grid_constant__ LeafView leaves, const __grid_constant__ NearestWanted wanted) {
  __shared__ WarpMemory<D> memory[kWarps];
  const std::uint64_t first = (std::uint64_t{blockIdx.x} * kWarps + threadIdx.x / 32) * kGroup;
  if (first >= leaves.size) return;
  WarpSearch<T, D, K, Smallest<double, K>> search(leaves, wanted.most, memory[threadIdx.x / 32]);
  search.run(static_cast<std::uint32_t>(first));
  const std::uint64_t position = first + threadIdx.x % 32;
  if (position >= leaves.size) return;
  double* const found = wanted.found + std::uint64_t{leaves.order[position]} * wanted.count;
  search.for_each_found(wanted.most, [&](std::uint32_t k, double sum) {
    for (std::uint32_t j = 0; j < wanted.count; ++j) {
      if (wanted.ks[j] == k) found[j] = wanted.roots ? __dsqrt_rn(sum) : sum;
    }
  });
}

/// Writes the next `count` elements of the lists, from number `done` on. kPasses: there are more than `count`.
template <class T, unsigned D, unsigned K, bool kPasses>
__global__ void __launch_bounds__(kThreads)
    nearest_lists_kernel(const __grid_constant__ LeafView leaves, std::uint32_t done, std::uint32_t count,
                         std::uint32_t* lists) {
  __shared__ WarpMemory<D> memory[kWarps];
  const std::uint64_t first = (std::uint64_t{blockIdx.x} * kWarps + threadIdx.x / 32) * kGroup;
  if (first >= leaves.size) return;
  WarpSearch<T, D, K, SmallestWithIds<K, kPasses>> search(leaves, count, memory[threadIdx.x / 32]);
  const std::uint64_t position = min(first + threadIdx.x % 32, std::uint64_t{leaves.size} - 1);
  if (kPasses && done > 0) {
    const std::uint32_t last = lists[std::uint64_t{done - 1} * leaves.size + position];
    const T* const from = static_cast<const T*>(leaves.coordinates);
    const double sum = index::squared_distance<D>([&](std::size_t k) { return from[k * leaves.size + position]; },
                                                  [&](std::size_t k) { return from[k * leaves.size + last]; }, D);
    search.start_after(sum, last);
  }
  search.run(static_cast<std::uint32_t>(first));
  if (first + threadIdx.x % 32 >= leaves.size) return;
  search.for_each_found(count, [&](std::uint32_t j, std::uint32_t other) {
    lists[std::uint64_t{done + j - 1} * leaves.size + position] = other;
  });
}

template <class F>
void with_dims(const LeafView& leaves, F f) {
  with_types<1, 2, 3>(leaves.precision, leaves.dims, f);
}

}  // namespace

void launch_curve_numbers(PointsOnDevice points, const index::Curve& curve, std::uint64_t* numbers, std::uint32_t* ids,
                          cudaStream_t stream) {
  with_types<1, 2, 3>(points.precision, points.dims, [&]<class T, unsigned D>() {
    curve_numbers_kernel<T, D><<<blocks_of(points.size, kThreads), kThreads, 0, stream>>>(points, curve, numbers, ids);
  });
  check_launch(stream);
}

void launch_count_unresolved(const LeafView& leaves, const std::uint64_t* numbers, std::uint32_t* count,
                             cudaStream_t stream) {
  check(cudaMemsetAsync(count, 0, sizeof *count, stream));
  with_dims(leaves, [&]<class T, unsigned D>() {
    unresolved_kernel<T, D><<<blocks_of(leaves.size, kThreads), kThreads, 0, stream>>>(leaves, numbers, count);
  });
  check_launch(stream);
}

void launch_boxes(const LeafView& leaves, cudaStream_t stream) {
  with_types<0>(leaves.precision, leaves.dims, [&]<class T, unsigned>() {
    leaf_boxes_kernel<T><<<dim3(blocks_of(leaves.counts[0], kThreads), leaves.dims), kThreads, 0, stream>>>(leaves);
    check_launch(stream);
    for (unsigned level = 1; level < leaves.levels; ++level) {
      node_boxes_kernel<T>
          <<<dim3(blocks_of(leaves.counts[level], kThreads), leaves.dims), kThreads, 0, stream>>>(leaves, level);
      check_launch(stream);
    }
  });
}

void launch_nearest(const LeafView& leaves, const NearestWanted& wanted, cudaStream_t stream) {
  const std::uint32_t blocks = blocks_of(blocks_of(leaves.size, kGroup), kWarps);
  with_dims(leaves, [&]<class T, unsigned D>() {
    if (wanted.most <= 4) {
      nearest_kernel<T, D, 4><<<blocks, kThreads, 0, stream>>>(leaves, wanted);
    } else if (wanted.most <= 8) {
      nearest_kernel<T, D, 8><<<blocks, kThreads, 0, stream>>>(leaves, wanted);
    } else if (wanted.most <= 16) {
      nearest_kernel<T, D, 16><<<blocks, kThreads, 0, stream>>>(leaves, wanted);
    } else {
      nearest_kernel<T, D, kMostDeviceK><<<blocks, kThreads, 0, stream>>>(leaves, wanted);
    }
  });
  check_launch(stream);
}

void launch_nearest_lists(const LeafView& leaves, std::uint32_t length, std::uint32_t* lists, cudaStream_t stream) {
  const std::uint32_t blocks = blocks_of(blocks_of(leaves.size, kGroup), kWarps);
  for (std::uint32_t done = 0; done < length; done += kMostDeviceK) {
    const std::uint32_t count = std::min(length - done, kMostDeviceK);
    with_dims(leaves, [&]<class T, unsigned D>() {
      if (length > kMostDeviceK) {
        nearest_lists_kernel<T, D, kMostDeviceK, true><<<blocks, kThreads, 0, stream>>>(leaves, done, count, lists);
      } else if (count <= 8) {
        nearest_lists_kernel<T, D, 8, false><<<blocks, kThreads, 0, stream>>>(leaves, done, count, lists);
      } else if (count <= 16) {
        nearest_lists_kernel<T, D, 16, false><<<blocks, kThreads, 0, stream>>>(leaves, done, count, lists);
      } else {
        nearest_lists_kernel<T, D, kMostDeviceK, false><<<blocks, kThreads, 0, stream>>>(leaves, done, count, lists);
      }
    });
    check_launch(stream);
  }
}

}  // namespace epsflow::gpu
