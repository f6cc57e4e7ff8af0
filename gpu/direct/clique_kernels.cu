#include <algorithm>
#include <limits>

#include <epsflow/gpu/direct/clique_kernels.hpp>
#include <epsflow/gpu/direct/clique_view.cuh>
#include <epsflow/gpu/direct/disjoint_sets.cuh>
#include <epsflow/gpu/direct/tally.cuh>
#include <epsflow/gpu/error.hpp>

namespace epsflow::gpu {
namespace {

constexpr unsigned kThreads = tuning::kDirectThreads;
/// In place of a count or a number: the thread was not to test as many candidates as there are.
constexpr std::uint32_t kGaveUp = 0xFFFFFFFFU;
constexpr std::uint32_t kNoLimit = 0xFFFFFFFFU;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Counts points of [span.begin, span.end) near `place`, on top of `count`, and may stop at `most`.
template <class T, unsigned D>
__device__ std::uint32_t count_near(const CliqueView& view, const Place<T, D>& place, Span span, std::uint32_t count,
                                    std::uint32_t most) {
  constexpr unsigned kAtOnce = 4;
  const auto test = [&](std::uint32_t q) {
    return near_enough(place, load_place<T, D>(view.points, q), view.eps_squared) ? 1U : 0U;
  };
  std::uint32_t q = span.begin;
  while (q < span.end && span.end - q >= kAtOnce && count < most) {
#pragma unroll
    for (unsigned k = 0; k < kAtOnce; ++k) count += test(q + k);
    q += kAtOnce;
  }
  for (; q < span.end && count < most; ++q) count += test(q);
  return count;
}

/// Calls search(limit) with the candidates that a thread may test. Where it gives up, the point is left to a block, or
/// searched without a limit if there is no room.
template <class Search>
__device__ std::uint32_t search_or_leave(const LeftPoints& left, std::uint32_t position, Search search) {
  for (std::uint32_t limit = tuning::kThreadCandidates;; limit = kNoLimit) {
    const std::uint32_t found = search(limit);
    if (found != kGaveUp) return found;
    const std::uint32_t at = atomicAdd(&left.tally->left, 1U);
    if (at < left.capacity) {
      left.positions[at] = position;
      return kGaveUp;
    }
  }
}

/// Neighbours of a point whose cell alone does not have `most` points, or kGaveUp.
template <class T, unsigned D>
__device__ std::uint32_t count_around(const CliqueView& view, std::uint32_t position, std::uint32_t cell, Span own,
                                      std::uint32_t most, std::uint32_t least, std::uint32_t limit) {
  const Place<T, D> place = load_place<T, D>(view.points, position);
  const CellReach<D> reach(view, place);
  const std::uint64_t key = key_of(view, cell);
  std::uint32_t count = own.end - own.begin;
  if (least >= tuning::kBoundFromMinpts) {
    std::uint64_t candidates = 0;
    for (unsigned r = 0; r < view.row_count && candidates < least; ++r) {
      const Span span = row_in_reach(view, reach, view.rows[r], key);
      candidates += span.end - span.begin;
    }
    if (candidates < least) return count;
  }
  const auto add = [&](Span span) {
    const std::uint32_t end = span.end - span.begin <= limit ? span.end : span.begin + limit;
    count = count_near(view, place, {span.begin, end}, count, most);
    limit -= end - span.begin;
    return end == span.end || count >= most;
  };
  for (unsigned r = 0; r < view.row_count && count < most; ++r) {
    const Span span = row_in_reach(view, reach, view.rows[r], key);
    if (r == 0) {  // the row of the cell itself, whose points are counted already
      if (!add({span.begin, own.begin}) || !add({own.end, span.end})) return kGaveUp;
    } else if (!add(span)) {
      return kGaveUp;
    }
  }
  return count;
}

template <class T, unsigned D>
__global__ void __launch_bounds__(kThreads, D == 3 ? 0 : tuning::kCountBlocks)
    count_kernel(CliqueView view, Run positions, std::uint32_t most, std::uint32_t least, LeftPoints left,
                 std::uint32_t* counts, std::uint32_t* core_bits) {
  const std::uint64_t p = positions.begin + direct_thread();
  std::uint32_t count = 0;
  if (p < positions.end) {
    const std::uint32_t cell = view.cell_of[p];
    const Span own{__ldg(view.starts + cell), __ldg(view.starts + cell + 1)};
    count = own.end - own.begin;
    if (count < most) {
      const auto position = static_cast<std::uint32_t>(p);
      count = search_or_leave(left, position, [&](std::uint32_t limit) {
        return count_around<T, D>(view, position, cell, own, most, least, limit);
      });
      if (count == kGaveUp) count = 0;
    }
    if (counts != nullptr) counts[p] = min(count, most);
  }
  if (core_bits == nullptr) return;
  const unsigned word = __ballot_sync(kWholeWarp, p < positions.end && count >= most);
  if (p < positions.end && threadIdx.x % 32 == 0) core_bits[p / 32] = word;
}

/// Sum over a block of kPairThreads threads, the same for all of them.
__device__ inline std::uint32_t block_sum(std::uint32_t value) {
  constexpr unsigned kWarps = tuning::kPairThreads / 32;
  __shared__ std::uint32_t sums[kWarps];
  const std::uint32_t of_warp = __reduce_add_sync(kWholeWarp, value);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = of_warp;
  __syncthreads();
  std::uint32_t sum = 0;
  for (unsigned w = 0; w < kWarps; ++w) sum += sums[w];
  __syncthreads();
  return sum;
}

/// A block per point: all of its threads walk along the same rows.
template <class T, unsigned D>
__global__ void __launch_bounds__(tuning::kPairThreads)
    left_counts_kernel(CliqueView view, std::uint32_t most, LeftPoints left, std::uint32_t* counts,
                       std::uint32_t* core_bits) {
  const std::uint32_t items = min(left.tally->left, left.capacity);
  for (std::uint32_t item = blockIdx.x; item < items; item += gridDim.x) {
    const std::uint32_t position = left.positions[item];
    const std::uint32_t cell = view.cell_of[position];
    const Span own{__ldg(view.starts + cell), __ldg(view.starts + cell + 1)};
    const Place<T, D> place = load_place<T, D>(view.points, position);
    const CellReach<D> reach(view, place);
    const std::uint64_t key = key_of(view, cell);
    std::uint32_t count = own.end - own.begin;
    for (unsigned r = 0; r < view.row_count && count < most; ++r) {
      const Span span = row_in_reach(view, reach, view.rows[r], key);
      for (std::uint64_t first = span.begin; first < span.end && count < most; first += tuning::kBlockCandidates) {
        const std::uint64_t end = min(first + tuning::kBlockCandidates, std::uint64_t{span.end});
        std::uint32_t found = 0;
        for (std::uint64_t q = first + threadIdx.x; q < end; q += tuning::kPairThreads) {
          const bool counted = q >= own.begin && q < own.end;
          found += !counted && near_enough(place, load_place<T, D>(view.points, q), view.eps_squared) ? 1 : 0;
        }
        count += block_sum(found);
      }
    }
    if (threadIdx.x != 0) continue;
    if (counts != nullptr) counts[position] = min(count, most);
    if (core_bits != nullptr && count >= most) atomicOr(core_bits + position / 32, 1U << (position % 32));
  }
}

/// The points of a cell, of which the core ones matter.
struct Members {
  Span span;
  bool whole;  ///< all are core

  __device__ Members(const Nodes& nodes, std::uint32_t cell)
      : span{__ldg(nodes.starts + cell), __ldg(nodes.starts + cell + 1)},
        whole(span.end - span.begin >= nodes.minpts) {}

  __device__ std::uint32_t size() const { return span.end - span.begin; }
  __device__ bool is_core(const Nodes& nodes, std::uint32_t position) const {
    return whole || bit_of(nodes.core, position);
  }
  __device__ bool has_core(const Nodes& nodes) const {
    if (whole) return true;
    for (std::uint32_t w = span.begin / 32; w <= (span.end - 1) / 32; ++w) {
      if (word_within(nodes.core, w, span.begin, span.end) != 0) return true;
    }
    return false;
  }
};

enum class Verdict : std::uint8_t { apart, near, open };

/// Compares all core points of two cells. in_reach(place): whether a point of `a` may have a neighbour in `c` at all.
template <class T, unsigned D, class InReach>
__device__ bool compare_all(const CliqueView& view, const Nodes& nodes, const Members& a, const Members& c,
                            InReach in_reach) {
  for (std::uint32_t p = a.span.begin; p < a.span.end; ++p) {
    if (!a.is_core(nodes, p)) continue;
    const Place<T, D> place = load_place<T, D>(view.points, p);
    if (!in_reach(place)) continue;
    for (std::uint32_t q = c.span.begin; q < c.span.end; ++q) {
      if (c.is_core(nodes, q) && near_enough(place, load_place<T, D>(view.points, q), view.eps_squared)) return true;
    }
  }
  return false;
}

/// Tries some pairs of two cells with many points, both walked along: points of a cell lie in no order of space.
template <class T, unsigned D>
__device__ bool try_some(const CliqueView& view, const Nodes& nodes, const Members& a, const Members& c) {
  std::uint32_t p = a.span.begin;
  std::uint32_t q = c.span.begin;
  for (unsigned tries = 0; tries < tuning::kThreadTries; ++tries) {
    if (a.is_core(nodes, p) && c.is_core(nodes, q) &&
        near_enough(load_place<T, D>(view.points, p), load_place<T, D>(view.points, q), view.eps_squared)) {
      return true;
    }
    if (++q == c.span.end) q = c.span.begin;
    if (++p == a.span.end) {
      p = a.span.begin;
      if (++q == c.span.end) q = c.span.begin;  // other pairs than before where both have as many points
    }
  }
  return false;
}

template <class T, unsigned D, class InReach>
__device__ Verdict judge(const CliqueView& view, const Nodes& nodes, const Members& a, const Members& c,
                         InReach in_reach) {
  if (std::uint64_t{a.size()} * c.size() <= tuning::kMostThreadPairs) {
    return compare_all<T, D>(view, nodes, a, c, in_reach) ? Verdict::near : Verdict::apart;
  }
  return try_some<T, D>(view, nodes, a, c) ? Verdict::near : Verdict::open;
}

__device__ void list_huge(const PairQueue& queue, std::uint32_t a, std::uint32_t c) {
  queue.huge[atomicAdd(&queue.tally->huge_pairs, 1U)] = {a, c};
}

/// Leaves a pair to blocks. False where there is no room.
__device__ bool leave_to_blocks(const PairQueue& queue, std::uint32_t cell_a, const Members& a, std::uint32_t cell_c,
                                const Members& c) {
  const bool larger_first = a.size() >= c.size();
  const std::uint32_t larger = larger_first ? cell_a : cell_c;
  const std::uint32_t smaller = larger_first ? cell_c : cell_a;
  const bool huge = min(a.size(), c.size()) >= tuning::kHugeCell;
  const std::uint32_t parts = huge ? 1 : (max(a.size(), c.size()) - 1) / tuning::kPairPart + 1;
  // A look before the addition keeps the count from wrapping.
  const volatile std::uint32_t* const queued = &queue.tally->queued;
  const std::uint32_t at = *queued < queue.capacity ? atomicAdd(&queue.tally->queued, parts) : queue.capacity;
  const bool fits = at < queue.capacity && queue.capacity - at >= parts;
  for (std::uint32_t k = 0; k < parts && at + k < queue.capacity; ++k) {
    queue.pairs[at + k] = fits ? QueuedPair{larger, smaller, k} : QueuedPair{larger, larger, 0};  // or nothing to do
  }
  if (!fits && huge) {
    list_huge(queue, cell_a, cell_c);
    return true;
  }
  return fits;
}

/// Begins the sets. A thread per cell compares it with the one to its left, and a scan finds how far each chain goes
/// within the block: so no chain of links has to be walked, and no atomic is needed.
template <class T, unsigned D>
__global__ void __launch_bounds__(kThreads) link_rows_kernel(CliqueView view, Nodes nodes, CellSets sets) {
  constexpr unsigned kWarps = kThreads / 32;
  __shared__ std::uint8_t core_cells[kThreads];
  __shared__ std::uint32_t warp_heads[kWarps];
  const std::uint64_t thread = direct_thread();
  const bool valid = thread < view.cells;
  const auto cell = static_cast<std::uint32_t>(thread);
  const bool core = valid && Members(nodes, cell).has_core(nodes);
  core_cells[threadIdx.x] = core ? 1 : 0;
  __syncthreads();
  bool linked = false;
  if (core && threadIdx.x > 0 && core_cells[threadIdx.x - 1] != 0 && key_of(view, cell - 1) + 1 == key_of(view, cell)) {
    const Members own(nodes, cell);
    const Members left(nodes, cell - 1);
    const auto always = [](const Place<T, D>&) { return true; };
    Verdict verdict = judge<T, D>(view, nodes, own, left, always);
    if (verdict == Verdict::open && !leave_to_blocks(sets.queue, cell, own, cell - 1, left)) {
      verdict = compare_all<T, D>(view, nodes, own, left, always) ? Verdict::near : Verdict::apart;
    }
    linked = verdict == Verdict::near;
  }
  // The last thread up to this one that is not linked heads the chain.
  const unsigned lane = threadIdx.x % 32;
  const unsigned warp = threadIdx.x / 32;
  std::uint32_t head = linked ? 0 : threadIdx.x;
  for (unsigned step = 1; step < 32; step *= 2) {
    const std::uint32_t before = __shfl_up_sync(kWholeWarp, head, step);
    if (lane >= step) head = max(head, before);
  }
  if (lane == 31) warp_heads[warp] = head;
  __syncthreads();
  for (unsigned w = 0; w < warp; ++w) head = max(head, warp_heads[w]);
  if (valid) sets.parents[cell] = core ? cell - (threadIdx.x - head) : kNotCore;
}

__global__ void __launch_bounds__(kThreads)
    extend_kernel(Nodes nodes, const std::uint32_t* before, std::uint32_t* parents, std::uint8_t* gained) {
  const std::uint64_t thread = direct_thread();
  if (thread >= nodes.count) return;
  const auto cell = static_cast<std::uint32_t>(thread);
  const Span span{nodes.starts[cell], nodes.starts[cell + 1]};
  bool more = false;
  for (std::uint32_t w = span.begin / 32; w <= (span.end - 1) / 32 && !more; ++w) {
    more = (word_within(nodes.core, w, span.begin, span.end) & ~__ldg(before + w)) != 0;
  }
  gained[cell] = more ? 1 : 0;
  if (more && parents[cell] == kNotCore) parents[cell] = cell;
}

template <class T, unsigned D, CellDistance kDistance, unsigned kTeam>
__global__ void __launch_bounds__(kThreads) unite_kernel(CliqueView view, Nodes nodes, CellSets cell_sets,
                                                         std::uint32_t stride, std::uint32_t left_stride, bool queue) {
  constexpr bool kFar = kDistance == CellDistance::two_apart;
  const std::uint64_t thread = direct_thread();
  const std::uint64_t number = thread / kTeam * stride;
  if (number >= view.cells) return;
  const auto cell = static_cast<std::uint32_t>(number);
  const DisjointSets sets(cell_sets.parents);
  if (sets.parent(cell) == kNotCore) return;
  const Members own(nodes, cell);
  const std::uint64_t key = key_of(view, cell);
  const bool gained = cell_sets.gained == nullptr || cell_sets.gained[cell] != 0;
  std::uint32_t root = sets.find(cell);
  unsigned turn = 0;
  for (unsigned r = 0; r < view.row_count; ++r) {
    const CliqueRow& row = view.rows[r];
    unsigned wanted = kFar ? row.lower_far : row.lower_near;
    if (!kFar && r == 0 && (left_stride == 0 || cell % left_stride != 0)) wanted = 0;
    if (wanted == 0) continue;
    if (kTeam > 1 && turn++ % kTeam != thread % kTeam) continue;
    const RowCells cells = row_cells(view, key + static_cast<std::uint64_t>(row.offset));
    for (unsigned found = cells.mask & wanted; found != 0; found &= found - 1) {
      const unsigned step = static_cast<unsigned>(__ffs(static_cast<int>(found))) - 1;
      const std::uint32_t other = cells.at(step);
      const std::uint32_t parent = sets.parent(other);
      if (parent == kNotCore || parent == root) continue;
      if (!gained && cell_sets.gained[other] == 0) continue;
      root = sets.find(cell);
      if (sets.find(other) == root) continue;
      const Members members(nodes, other);
      const auto in_reach = [&](const Place<T, D>& place) {
        if constexpr (!kFar) return true;  // any cell that is adjacent is in reach
        const CellReach<D> reach(view, place);
        const float left = reach.left(row.steps);
        const float along = reach.gap(D - 1, static_cast<int>(step) - kCliqueWindow);
        return along * along <= left;
      };
      Verdict verdict = judge<T, D>(view, nodes, own, members, in_reach);
      if (verdict == Verdict::open && queue && !leave_to_blocks(cell_sets.queue, cell, own, other, members)) {
        verdict = compare_all<T, D>(view, nodes, own, members, in_reach) ? Verdict::near : Verdict::apart;
      }
      if (verdict == Verdict::near) root = sets.unite(cell, other);
    }
  }
}

template <unsigned D>
struct Box {
  double lo[D];
  double hi[D];

  __device__ void clear() {
    for (unsigned k = 0; k < D; ++k) {
      lo[k] = kInfinity;
      hi[k] = -kInfinity;
    }
  }
  template <class T>
  __device__ void add(const Place<T, D>& place) {
    for (unsigned k = 0; k < D; ++k) {
      lo[k] = fmin(lo[k], static_cast<double>(place.x[k]));
      hi[k] = fmax(hi[k], static_cast<double>(place.x[k]));
    }
  }
};

/// Whether a box may hold a point near another box. Differences, squares and sums are rounded as in the test of
/// index/distance.hpp, and rounding keeps order: each is at most what it is for any two points of the boxes. So where
/// this sum is over eps², all of theirs are.
template <unsigned D>
__device__ bool may_be_near(const Box<D>& a, const Box<D>& b, double eps_squared) {
  double sum = 0;
  for (unsigned k = 0; k < D; ++k) {
    double gap = 0;
    if (a.lo[k] > b.hi[k]) gap = index::rounded_difference(a.lo[k], b.hi[k]);
    if (b.lo[k] > a.hi[k]) gap = index::rounded_difference(b.lo[k], a.hi[k]);
    sum = index::rounded_sum(sum, index::rounded_product(gap, gap));
  }
  return sum <= eps_squared;
}

template <class T, unsigned D>
__device__ bool may_be_near(const Place<T, D>& place, const Box<D>& box, double eps_squared) {
  Box<D> point;
  point.clear();
  point.add(place);
  return may_be_near(point, box, eps_squared);
}

/// Positions begin, begin + stride, …: `count` of them.
struct Steps {
  std::uint32_t begin;
  std::uint32_t count;
  std::uint32_t stride;

  __device__ std::uint32_t at(std::uint32_t i) const { return begin + i * stride; }
};
/// At most kPairPart points spread over a cell.
__device__ inline Steps spread(Span span) {
  const std::uint32_t size = span.end - span.begin;
  return {span.begin, min(size, tuning::kPairPart), max(1U, size / tuning::kPairPart)};
}

/// The box of a cell's core points, the same for all threads of the block.
template <class T, unsigned D>
__device__ Box<D> core_box(const CliqueView& view, const Nodes& nodes, const Members& cell, Steps steps) {
  constexpr unsigned kWarps = tuning::kPairThreads / 32;
  __shared__ Box<D> boxes[kWarps];
  Box<D> box;
  box.clear();
  for (std::uint32_t i = threadIdx.x; i < steps.count; i += tuning::kPairThreads) {
    if (cell.is_core(nodes, steps.at(i))) box.add(load_place<T, D>(view.points, steps.at(i)));
  }
  for (unsigned k = 0; k < D; ++k) {
    for (unsigned step = 16; step > 0; step /= 2) {
      box.lo[k] = fmin(box.lo[k], __shfl_xor_sync(kWholeWarp, box.lo[k], static_cast<int>(step)));
      box.hi[k] = fmax(box.hi[k], __shfl_xor_sync(kWholeWarp, box.hi[k], static_cast<int>(step)));
    }
  }
  if (threadIdx.x % 32 == 0) boxes[threadIdx.x / 32] = box;
  __syncthreads();
  for (unsigned w = 0; w < kWarps; ++w) {
    for (unsigned k = 0; k < D; ++k) {
      box.lo[k] = fmin(box.lo[k], boxes[w].lo[k]);
      box.hi[k] = fmax(box.hi[k], boxes[w].hi[k]);
    }
  }
  __syncthreads();
  return box;
}

/// Whether two cells are of one set by now: the same answer for all threads of the block.
__device__ inline bool in_one_set(const DisjointSets& sets, std::uint32_t a, std::uint32_t b) {
  return __syncthreads_or(threadIdx.x == 0 && sets.find(a) == sets.find(b) ? 1 : 0) != 0;
}

/// Compares the core points among two ranges: those of `larger` near the other's box in tiles of shared memory.
template <class T, unsigned D>
__device__ bool compare_in_block(const CliqueView& view, const Nodes& nodes, const DisjointSets& sets,
                                 const QueuedPair& pair, Steps larger, Steps smaller) {
  __shared__ T tile[D][tuning::kPairThreads];
  __shared__ unsigned tile_size;
  const Members large(nodes, pair.larger);
  const Members small(nodes, pair.smaller);
  const Box<D> box = core_box<T, D>(view, nodes, small, smaller);
  for (std::uint32_t first = 0; first < larger.count; first += tuning::kPairThreads) {
    if (threadIdx.x == 0) tile_size = 0;
    __syncthreads();
    const std::uint32_t i = first + threadIdx.x;
    if (i < larger.count && large.is_core(nodes, larger.at(i))) {
      const Place<T, D> place = load_place<T, D>(view.points, larger.at(i));
      if (may_be_near(place, box, view.eps_squared)) {
        const unsigned at = atomicAdd(&tile_size, 1U);
        for (unsigned k = 0; k < D; ++k) tile[k][at] = place.x[k];
      }
    }
    __syncthreads();
    const unsigned size = tile_size;
    if (size == 0) {
      __syncthreads();  // before tile_size is reset
      continue;
    }
    bool hit = false;
    for (std::uint32_t j = threadIdx.x; j < smaller.count && !hit; j += tuning::kPairThreads) {
      const std::uint32_t q = smaller.at(j);
      if (!small.is_core(nodes, q)) continue;
      const Place<T, D> place = load_place<T, D>(view.points, q);
      for (unsigned t = 0; t < size; ++t) {
        hit |= index::is_neighbor<D>([&](std::size_t k) { return place.x[k]; },
                                     [&](std::size_t k) { return tile[k][t]; }, D, view.eps_squared);
      }
    }
    if (__syncthreads_or(hit ? 1 : 0) != 0) return true;
    // Other blocks may have found a way between the two meanwhile.
    if (in_one_set(sets, pair.larger, pair.smaller)) return false;
  }
  return false;
}

template <class T, unsigned D>
__global__ void __launch_bounds__(tuning::kPairThreads)
    queued_pairs_kernel(CliqueView view, Nodes nodes, CellSets cell_sets) {
  const DisjointSets sets(cell_sets.parents);
  const PairQueue& queue = cell_sets.queue;
  const std::uint32_t queued = min(queue.tally->queued, queue.capacity);
  for (std::uint32_t item = blockIdx.x; item < queued; item += gridDim.x) {
    const QueuedPair pair = queue.pairs[item];
    if (in_one_set(sets, pair.larger, pair.smaller)) continue;
    const Span large = Members(nodes, pair.larger).span;
    const Span small = Members(nodes, pair.smaller).span;
    const bool huge = small.end - small.begin >= tuning::kHugeCell;
    Steps part = spread(large);
    if (!huge) {
      const std::uint32_t skipped = pair.part * tuning::kPairPart;
      part = {large.begin + skipped, min(tuning::kPairPart, large.end - large.begin - skipped), 1};
    }
    const Steps others = huge ? spread(small) : Steps{small.begin, small.end - small.begin, 1};
    const bool near = compare_in_block<T, D>(view, nodes, sets, pair, part, others);
    if (threadIdx.x == 0) {
      if (near) {
        sets.unite(pair.larger, pair.smaller);
      } else if (huge && sets.find(pair.larger) != sets.find(pair.smaller)) {
        list_huge(queue, pair.larger, pair.smaller);
      }
    }
  }
}

template <class T, unsigned D>
__global__ void __launch_bounds__(kThreads)
    label_ids_kernel(CliqueView view, const void* points, const std::uint32_t* numbers, std::int32_t* labels,
                     std::uint8_t* core) {
  const std::uint64_t i = direct_thread();
  if (i >= view.size) return;
  const Place<T, D> place = load_place<T, D>(points, i);
  std::uint64_t key = 0;
  for (unsigned k = 0; k < D; ++k) {
    key += (view.axes[k].slot(static_cast<double>(place.x[k])) + kCliqueWindow) * view.strides[k];
  }
  const std::uint32_t entry = __ldg(numbers + rank_before(view.words, key));
  if ((entry & kWholeNode) == 0) return;
  labels[i] = static_cast<std::int32_t>(entry & kNumberMask);
  if (core != nullptr) core[i] = 1;
}

/// The lowest number among clusters with a core point near the one at `position`, if it is lower than `best`; or
/// kGaveUp.
template <class T, unsigned D>
__device__ std::uint32_t lowest_number(const CliqueView& view, const Nodes& nodes, const std::uint32_t* numbers,
                                       std::uint32_t position, std::uint32_t cell, std::uint32_t best,
                                       std::uint32_t limit) {
  const Place<T, D> place = load_place<T, D>(view.points, position);
  const CellReach<D> reach(view, place);
  const std::uint64_t key = key_of(view, cell);
  for (unsigned r = 0; r < view.row_count && best > 0; ++r) {
    const CliqueRow& row = view.rows[r];
    const unsigned wanted = reach.cells(reach.left(row.steps));
    if (wanted == 0) continue;
    const RowCells cells = row_cells(view, key + static_cast<std::uint64_t>(row.offset));
    for (unsigned found = cells.mask & wanted; found != 0; found &= found - 1) {
      const std::uint32_t other = cells.at(static_cast<unsigned>(__ffs(static_cast<int>(found))) - 1);
      const std::uint32_t number = __ldg(numbers + other) & kNumberMask;
      if (number >= best) continue;  // kNoNumber is the highest
      const Members members(nodes, other);
      const std::uint32_t end = members.size() <= limit ? members.span.end : members.span.begin + limit;
      bool near = false;
      std::uint32_t q = members.span.begin;
      for (; q < end && !near; ++q) {
        near = members.is_core(nodes, q) && near_enough(place, load_place<T, D>(view.points, q), view.eps_squared);
      }
      if (!near && end < members.span.end) return kGaveUp;
      if (near) best = number;
      limit -= q - members.span.begin;
    }
  }
  return best;
}

template <class T, unsigned D>
__global__ void __launch_bounds__(kThreads)
    label_positions_kernel(CliqueView view, Nodes nodes, const std::uint32_t* numbers, bool all, LeftPoints left,
                           std::int32_t* labels, std::uint8_t* core, std::uint32_t* sizes) {
  const std::uint64_t thread = direct_thread();
  const auto p = static_cast<std::uint32_t>(thread);
  bool noise = false;
  bool border = false;
  std::uint32_t number = kNoNumber;
  if (thread < view.size) {
    const std::uint32_t cell = view.cell_of[p];
    const std::uint32_t entry = __ldg(numbers + cell);
    const bool whole = (entry & kWholeNode) != 0;
    if (all || !whole) {
      number = entry & kNumberMask;
      const bool is_core = whole || (number != kNoNumber && bit_of(nodes.core, p));
      if (!is_core) {
        const std::uint32_t own = number;
        number = search_or_leave(left, p, [&](std::uint32_t limit) {
          return lowest_number<T, D>(view, nodes, numbers, p, cell, own, limit);
        });
        noise = number == kNoNumber;
        border = number < kNoNumber;
      }
      const std::uint32_t id = view.order[p];
      if (number != kGaveUp) labels[id] = number == kNoNumber ? kNoise : static_cast<std::int32_t>(number);
      if (core != nullptr) core[id] = is_core ? 1 : 0;
    }
  }
  tally_points(left.tally, noise, border);
  add_by_block(sizes, border, number, 1);
}

/// A block per point: as lowest_number(), the threads sharing out the points of each cell.
template <class T, unsigned D>
__global__ void __launch_bounds__(tuning::kPairThreads)
    left_labels_kernel(CliqueView view, Nodes nodes, const std::uint32_t* numbers, LeftPoints left,
                       std::int32_t* labels, std::uint32_t* sizes) {
  const std::uint32_t items = min(left.tally->left, left.capacity);
  for (std::uint32_t item = blockIdx.x; item < items; item += gridDim.x) {
    const std::uint32_t position = left.positions[item];
    const std::uint32_t cell = view.cell_of[position];
    const Place<T, D> place = load_place<T, D>(view.points, position);
    const CellReach<D> reach(view, place);
    const std::uint64_t key = key_of(view, cell);
    std::uint32_t best = __ldg(numbers + cell) & kNumberMask;
    for (unsigned r = 0; r < view.row_count && best > 0; ++r) {
      const CliqueRow& row = view.rows[r];
      const unsigned wanted = reach.cells(reach.left(row.steps));
      if (wanted == 0) continue;
      const RowCells cells = row_cells(view, key + static_cast<std::uint64_t>(row.offset));
      for (unsigned found = cells.mask & wanted; found != 0; found &= found - 1) {
        const std::uint32_t other = cells.at(static_cast<unsigned>(__ffs(static_cast<int>(found))) - 1);
        const std::uint32_t number = __ldg(numbers + other) & kNumberMask;
        if (number >= best) continue;
        const Members members(nodes, other);
        bool near = false;
        for (std::uint64_t first = members.span.begin; first < members.span.end && !near;
             first += tuning::kBlockCandidates) {
          const std::uint64_t end = min(first + tuning::kBlockCandidates, std::uint64_t{members.span.end});
          bool hit = false;
          for (std::uint64_t q = first + threadIdx.x; q < end && !hit; q += tuning::kPairThreads) {
            hit = members.is_core(nodes, static_cast<std::uint32_t>(q)) &&
                  near_enough(place, load_place<T, D>(view.points, q), view.eps_squared);
          }
          near = __syncthreads_or(hit ? 1 : 0) != 0;
        }
        if (near) best = number;
      }
    }
    const bool border = best != kNoNumber;
    tally_points(left.tally, threadIdx.x == 0 && !border, threadIdx.x == 0 && border);
    if (threadIdx.x != 0) continue;
    labels[view.order[position]] = border ? static_cast<std::int32_t>(best) : kNoise;
    if (border) atomicAdd(sizes + best, 1U);
  }
}

// Pairs of huge cells.

__global__ void cell_spans_kernel(CliqueView view, const std::uint32_t* cells, std::uint32_t count,
                                  std::uint32_t* spans) {
  const std::uint64_t k = direct_thread();
  if (k >= count) return;
  spans[2 * k] = view.starts[cells[k]];
  spans[2 * k + 1] = view.starts[cells[k] + 1];
}

/// Bits of a place in its cell, taken in turn from each axis: the Z-order curve.
template <class T, unsigned D>
__device__ std::uint32_t place_on_curve(const CliqueView& view, const Place<T, D>& place) {
  constexpr unsigned kBits = 30 / D;
  const CellReach<D> in_cell(view, place);
  std::uint32_t code = 0;
  for (unsigned k = 0; k < D; ++k) {
    const float scaled = fminf(fmaxf(in_cell.offset[k], 0.0F), 0x1.fffffep-1F) * static_cast<float>(1U << kBits);
    const auto bits = static_cast<std::uint32_t>(scaled);
    for (unsigned b = 0; b < kBits; ++b) code |= ((bits >> b) & 1U) << (b * D + k);
  }
  return code;
}

template <class T, unsigned D>
__global__ void huge_keys_kernel(CliqueView view, const HugeCell* cells, std::uint32_t count, std::uint32_t size,
                                 std::uint64_t* keys, std::uint32_t* positions) {
  const std::uint64_t i = direct_thread();
  if (i >= size) return;
  std::uint32_t cell = 0;  // the last that begins at or before i
  for (std::uint32_t end = count; end - cell > 1;) {
    const std::uint32_t middle = cell + (end - cell) / 2;
    if (cells[middle].first <= i) {
      cell = middle;
    } else {
      end = middle;
    }
  }
  const std::uint32_t position = cells[cell].begin + (static_cast<std::uint32_t>(i) - cells[cell].first);
  positions[i] = position;
  keys[i] = std::uint64_t{cell} << 32 | place_on_curve(view, load_place<T, D>(view.points, position));
}

template <class T, unsigned D>
__global__ void chunk_boxes_kernel(CliqueView view, const std::uint32_t* positions, std::uint32_t size,
                                   ChunkBox* boxes) {
  const std::uint64_t begin = direct_thread() * tuning::kChunk;
  if (begin >= size) return;
  Box<D> box;
  box.clear();
  for (std::uint64_t i = begin; i < size && i < begin + tuning::kChunk; ++i) {
    box.add(load_place<T, D>(view.points, positions[i]));
  }
  for (unsigned k = 0; k < D; ++k) {
    boxes[begin / tuning::kChunk].lo[k] = box.lo[k];
    boxes[begin / tuning::kChunk].hi[k] = box.hi[k];
  }
}

template <unsigned D>
__device__ inline Box<D> load_box(const ChunkBox* boxes, std::uint32_t chunk) {
  Box<D> box;
  for (unsigned k = 0; k < D; ++k) {
    box.lo[k] = boxes[chunk].lo[k];
    box.hi[k] = boxes[chunk].hi[k];
  }
  return box;
}

/// blockIdx.y: a pair; its blocks share out the chunks of the first cell. Boxes may hold points of the next cell too,
/// which makes them larger than need be, never smaller.
template <class T, unsigned D>
__global__ void __launch_bounds__(tuning::kPairThreads)
    huge_pairs_kernel(CliqueView view, Nodes nodes, std::uint32_t* parents, const HugeCell* cells,
                      const std::uint32_t* positions, const ChunkBox* boxes, const CellPair* pairs,
                      const CellPair* places) {
  constexpr unsigned kThreadsOfPair = tuning::kPairThreads;
  constexpr std::uint32_t kChunk = tuning::kChunk;
  __shared__ std::uint32_t listed[kThreadsOfPair];
  __shared__ unsigned listed_size;
  const DisjointSets sets(parents);
  const CellPair pair = pairs[blockIdx.y];
  const HugeCell a = cells[places[blockIdx.y].a];
  const HugeCell b = cells[places[blockIdx.y].b];
  const Members of_a(nodes, pair.a);
  const Members of_b(nodes, pair.b);
  const std::uint32_t last_b = (b.end - 1) / kChunk;
  for (std::uint32_t chunk = a.first / kChunk + blockIdx.x; chunk <= (a.end - 1) / kChunk; chunk += gridDim.x) {
    if (in_one_set(sets, pair.a, pair.b)) return;
    const Box<D> box = load_box<D>(boxes, chunk);
    for (std::uint32_t first = b.first / kChunk; first <= last_b; first += kThreadsOfPair) {
      if (threadIdx.x == 0) listed_size = 0;
      __syncthreads();
      const std::uint32_t other = first + threadIdx.x;
      if (other <= last_b && may_be_near(box, load_box<D>(boxes, other), view.eps_squared)) {
        listed[atomicAdd(&listed_size, 1U)] = other;
      }
      __syncthreads();
      const unsigned size = listed_size;
      bool hit = false;
      // A thread has one point of the first chunk and, of each chunk listed, every so manieth.
      const std::uint32_t place_p = chunk * kChunk + threadIdx.x % kChunk;
      if (place_p >= a.first && place_p < a.end && of_a.is_core(nodes, positions[place_p])) {
        const Place<T, D> p = load_place<T, D>(view.points, positions[place_p]);
        for (unsigned l = 0; l < size && !hit; ++l) {
          const std::uint32_t begin = max(listed[l] * kChunk, b.first);
          const std::uint32_t end = min(listed[l] * kChunk + kChunk, b.end);
          for (std::uint32_t q = begin + threadIdx.x / kChunk; q < end; q += kThreadsOfPair / kChunk) {
            const std::uint32_t position = positions[q];
            hit |= of_b.is_core(nodes, position) &&
                   near_enough(p, load_place<T, D>(view.points, position), view.eps_squared);
          }
        }
      }
      if (__syncthreads_or(hit ? 1 : 0) != 0) {
        if (threadIdx.x == 0) sets.unite(pair.a, pair.b);
        return;
      }
    }
  }
}

template <class T, unsigned D, CellDistance kDistance>
void launch_unite(const CliqueView& view, const Nodes& nodes, const CellSets& sets, std::uint32_t stride,
                  std::uint32_t left_stride, bool queue, cudaStream_t stream) {
  constexpr unsigned kTeam = D == 3 && kDistance == CellDistance::two_apart ? tuning::kFarThreads3D : 1;
  const std::uint64_t threads = (std::uint64_t{view.cells} + stride - 1) / stride * kTeam;
  unite_kernel<T, D, kDistance, kTeam>
      <<<direct_blocks(threads), kThreads, 0, stream>>>(view, nodes, sets, stride, left_stride, queue);
}

}  // namespace

void launch_count_cliques(const CliqueView& view, Run positions, std::uint32_t most, std::uint32_t least,
                          const LeftPoints& left, std::uint32_t* counts, std::uint32_t* core_bits,
                          cudaStream_t stream) {
  for_places(view.precision, view.dims, [&]<class T, unsigned D>() {
    count_kernel<T, D><<<direct_blocks(positions.size()), kThreads, 0, stream>>>(view, positions, most, least, left,
                                                                                 counts, core_bits);
  });
  check_launch(stream);
}

void launch_left_counts(const CliqueView& view, std::uint32_t most, const LeftPoints& left, std::uint32_t* counts,
                        std::uint32_t* core_bits, cudaStream_t stream) {
  for_places(view.precision, view.dims, [&]<class T, unsigned D>() {
    left_counts_kernel<T, D>
        <<<tuning::kPairBlocks, tuning::kPairThreads, 0, stream>>>(view, most, left, counts, core_bits);
  });
  check_launch(stream);
}

void launch_link_rows(const CliqueView& view, const Nodes& nodes, const CellSets& sets, cudaStream_t stream) {
  for_places(view.precision, view.dims, [&]<class T, unsigned D>() {
    link_rows_kernel<T, D><<<direct_blocks(view.cells), kThreads, 0, stream>>>(view, nodes, sets);
  });
  check_launch(stream);
}

void launch_extend_cells(const Nodes& nodes, const std::uint32_t* before, std::uint32_t* parents, std::uint8_t* gained,
                         cudaStream_t stream) {
  extend_kernel<<<direct_blocks(nodes.count), kThreads, 0, stream>>>(nodes, before, parents, gained);
  check_launch(stream);
}

void launch_unite_cells(const CliqueView& view, const Nodes& nodes, const CellSets& sets, CellDistance distance,
                        std::uint32_t stride, std::uint32_t left_stride, bool queue, cudaStream_t stream) {
  for_places(view.precision, view.dims, [&]<class T, unsigned D>() {
    if (distance == CellDistance::adjacent) {
      launch_unite<T, D, CellDistance::adjacent>(view, nodes, sets, stride, left_stride, queue, stream);
    } else {
      launch_unite<T, D, CellDistance::two_apart>(view, nodes, sets, stride, left_stride, queue, stream);
    }
  });
  check_launch(stream);
}

void launch_queued_pairs(const CliqueView& view, const Nodes& nodes, const CellSets& sets, cudaStream_t stream) {
  for_places(view.precision, view.dims, [&]<class T, unsigned D>() {
    queued_pairs_kernel<T, D><<<tuning::kPairBlocks, tuning::kPairThreads, 0, stream>>>(view, nodes, sets);
  });
  check_launch(stream);
}

void launch_label_ids(const CliqueView& view, PointsOnDevice points, const std::uint32_t* numbers, std::int32_t* labels,
                      std::uint8_t* core, cudaStream_t stream) {
  for_places(view.precision, view.dims, [&]<class T, unsigned D>() {
    label_ids_kernel<T, D><<<direct_blocks(view.size), kThreads, 0, stream>>>(view, points.data, numbers, labels, core);
  });
  check_launch(stream);
}

void launch_label_positions(const CliqueView& view, const Nodes& nodes, const std::uint32_t* numbers, bool all,
                            const LeftPoints& left, std::int32_t* labels, std::uint8_t* core, std::uint32_t* sizes,
                            cudaStream_t stream) {
  for_places(view.precision, view.dims, [&]<class T, unsigned D>() {
    label_positions_kernel<T, D>
        <<<direct_blocks(view.size), kThreads, 0, stream>>>(view, nodes, numbers, all, left, labels, core, sizes);
  });
  check_launch(stream);
}

void launch_left_labels(const CliqueView& view, const Nodes& nodes, const std::uint32_t* numbers,
                        const LeftPoints& left, std::int32_t* labels, std::uint32_t* sizes, cudaStream_t stream) {
  for_places(view.precision, view.dims, [&]<class T, unsigned D>() {
    left_labels_kernel<T, D>
        <<<tuning::kPairBlocks, tuning::kPairThreads, 0, stream>>>(view, nodes, numbers, left, labels, sizes);
  });
  check_launch(stream);
}

void launch_cell_spans(const CliqueView& view, const std::uint32_t* cells, std::uint32_t count, std::uint32_t* spans,
                       cudaStream_t stream) {
  cell_spans_kernel<<<direct_blocks(count), kThreads, 0, stream>>>(view, cells, count, spans);
  check_launch(stream);
}

void launch_huge_keys(const CliqueView& view, const HugeCell* cells, std::uint32_t count, std::uint32_t size,
                      std::uint64_t* keys, std::uint32_t* positions, cudaStream_t stream) {
  for_places(view.precision, view.dims, [&]<class T, unsigned D>() {
    huge_keys_kernel<T, D><<<direct_blocks(size), kThreads, 0, stream>>>(view, cells, count, size, keys, positions);
  });
  check_launch(stream);
}

void launch_chunk_boxes(const CliqueView& view, const std::uint32_t* positions, std::uint32_t size, ChunkBox* boxes,
                        cudaStream_t stream) {
  for_places(view.precision, view.dims, [&]<class T, unsigned D>() {
    chunk_boxes_kernel<T, D><<<direct_blocks((std::uint64_t{size} - 1) / tuning::kChunk + 1), kThreads, 0, stream>>>(
        view, positions, size, boxes);
  });
  check_launch(stream);
}

void launch_huge_pairs(const CliqueView& view, const Nodes& nodes, std::uint32_t* parents, const HugeCell* cells,
                       const std::uint32_t* positions, const ChunkBox* boxes, const CellPair* pairs,
                       const CellPair* places, std::uint32_t count, cudaStream_t stream) {
  constexpr std::uint32_t kMostAtOnce = 32768;  // a grid has fewer than 2^16 blocks along y
  for (std::uint32_t first = 0; first < count; first += kMostAtOnce) {
    const dim3 blocks(tuning::kHugeBlocks, std::min(kMostAtOnce, count - first));
    for_places(view.precision, view.dims, [&]<class T, unsigned D>() {
      huge_pairs_kernel<T, D><<<blocks, tuning::kPairThreads, 0, stream>>>(view, nodes, parents, cells, positions,
                                                                           boxes, pairs + first, places + first);
    });
    check_launch(stream);
  }
}

}  // namespace epsflow::gpu
