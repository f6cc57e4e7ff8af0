#include <thrust/iterator/counting_iterator.h>

#include <cub/device/device_select.cuh>

#include <epsflow/gpu/base/error.hpp>
#include <epsflow/gpu/base/tuning.hpp>
#include <epsflow/gpu/base/with_scratch.hpp>
#include <epsflow/gpu/direct/dense_box_kernels.hpp>
#include <epsflow/gpu/direct/dense_box_members.cuh>
#include <epsflow/gpu/direct/dense_box_pair_queue.cuh>
#include <epsflow/gpu/direct/dense_box_view.cuh>
#include <epsflow/gpu/direct/disjoint_sets.cuh>
#include <epsflow/gpu/direct/tally.cuh>

namespace epsflow::gpu {
namespace {

/// Compares all core points of two cells. in_reach(point): false if a point of `a` cannot have a neighbour in `c`.
template <class T, unsigned D, class InReach>
__device__ bool compare_all(const DenseBoxView& view, const Nodes& nodes, const Members& a, const Members& c,
                            InReach in_reach) {
  for (std::uint32_t p = a.span.begin; p < a.span.end; ++p) {
    if (!a.is_core(nodes, p)) continue;
    const Coordinates<T, D> point = load_coordinates<T, D>(view.points, p);
    if (!in_reach(point)) continue;
    for (std::uint32_t q = c.span.begin; q < c.span.end; ++q) {
      if (c.is_core(nodes, q) && near_enough(point, load_coordinates<T, D>(view.points, q), view.eps_squared))
        return true;
    }
  }
  return false;
}

/// Tries some pairs of points of two large cells, advancing in both: the points are not in spatial order.
template <class T, unsigned D>
__device__ bool try_some(const DenseBoxView& view, const Nodes& nodes, const Members& a, const Members& c) {
  std::uint32_t p = a.span.begin;
  std::uint32_t q = c.span.begin;
  for (unsigned tries = 0; tries < tuning::kThreadTries; ++tries) {
    if (a.is_core(nodes, p) && c.is_core(nodes, q) &&
        near_enough(load_coordinates<T, D>(view.points, p), load_coordinates<T, D>(view.points, q), view.eps_squared)) {
      return true;
    }
    if (++q == c.span.end) q = c.span.begin;
    if (++p == a.span.end) {
      p = a.span.begin;
      if (++q == c.span.end) q = c.span.begin;  // gives other pairs than before if both have equally many points
    }
  }
  return false;
}

template <class T, unsigned D, class InReach>
__device__ Verdict judge(const DenseBoxView& view, const Nodes& nodes, const Members& a, const Members& c,
                         InReach in_reach) {
  if (std::uint64_t{a.size()} * c.size() <= tuning::kMostThreadPairs) {
    return compare_all<T, D>(view, nodes, a, c, in_reach) ? Verdict::near : Verdict::apart;
  }
  return try_some<T, D>(view, nodes, a, c) ? Verdict::near : Verdict::open;
}

/// Initialises the sets. Each thread compares a cell with the one before it in its row, and a scan finds the start of
/// each chain within the block. So no chain of links has to be followed, and no atomic is needed.
template <class T, unsigned D>
__global__ void __launch_bounds__(tuning::kDirectThreads)
    link_rows_kernel(DenseBoxView view, Nodes nodes, CellSets sets) {
  constexpr unsigned kWarps = tuning::kDirectThreads / 32;
  __shared__ std::uint8_t core_cells[tuning::kDirectThreads];
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
    const Members before(nodes, cell - 1);
    const auto always = [](const Coordinates<T, D>&) { return true; };
    Verdict verdict = judge<T, D>(view, nodes, own, before, always);
    if (verdict == Verdict::open && !leave_to_blocks(sets.queue, cell, own, cell - 1, before)) {
      verdict = compare_all<T, D>(view, nodes, own, before, always) ? Verdict::near : Verdict::apart;
    }
    linked = verdict == Verdict::near;
  }
  // The last thread up to this one that is not linked is the head of the chain.
  const unsigned lane = threadIdx.x % 32;
  const unsigned warp = threadIdx.x / 32;
  std::uint32_t head = linked ? 0 : threadIdx.x;
  for (unsigned step = 1; step < 32; step *= 2) {
    const std::uint32_t before = __shfl_up_sync(tuning::kWholeWarp, head, step);
    if (lane >= step) head = max(head, before);
  }
  if (lane == 31) warp_heads[warp] = head;
  __syncthreads();
  for (unsigned w = 0; w < warp; ++w) head = max(head, warp_heads[w]);
  if (valid) sets.parents[cell] = core ? cell - (threadIdx.x - head) : kNotCore;
}

__global__ void __launch_bounds__(tuning::kDirectThreads)
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

struct IsCore {
  const std::uint32_t* parents;
  __device__ bool operator()(std::uint32_t cell) const { return parents[cell] != kNotCore; }
};

template <class T, unsigned D, CellDistance kDistance>
__global__ void __launch_bounds__(tuning::kDirectThreads)
    unite_kernel(DenseBoxView view, Nodes nodes, CellSets cell_sets, std::uint32_t stride, std::uint32_t row_stride,
                 bool queue) {
  constexpr bool kFar = kDistance == CellDistance::two_apart;
  const std::uint64_t number = direct_thread() * stride;
  const CoreCells& core = cell_sets.core;
  if (number >= (core.cells == nullptr ? view.cells : *core.count)) return;
  const auto cell = core.cells == nullptr ? static_cast<std::uint32_t>(number) : __ldg(core.cells + number);
  const DisjointSets sets(cell_sets.parents);
  if (sets.parent(cell) == kNotCore) return;
  const Members own(nodes, cell);
  const std::uint64_t key = key_of(view, cell);
  const bool gained = cell_sets.gained == nullptr || cell_sets.gained[cell] != 0;
  std::uint32_t root = sets.find(cell);
  for (unsigned r = 0; r < view.row_count; ++r) {
    const DenseBoxRow& row = view.rows[r];
    unsigned wanted = kFar ? row.lower_far : row.lower_near;
    if (!kFar && r == 0 && (row_stride == 0 || cell % row_stride != 0)) wanted = 0;
    if (wanted == 0) continue;
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
      const auto in_reach = [&](const Coordinates<T, D>& point) {
        if constexpr (!kFar) return true;  // adjacent cells are always within reach
        const CellReach<D> reach(view, point);
        const float rest = reach.rest(row.steps);
        const float along = reach.gap(D - 1, static_cast<int>(step) - kDenseBoxWindow);
        return along * along <= rest;
      };
      Verdict verdict = judge<T, D>(view, nodes, own, members, in_reach);
      if (verdict == Verdict::open && queue && !leave_to_blocks(cell_sets.queue, cell, own, other, members)) {
        verdict = compare_all<T, D>(view, nodes, own, members, in_reach) ? Verdict::near : Verdict::apart;
      }
      if (verdict == Verdict::near) root = sets.unite(cell, other);
    }
  }
}

}  // namespace

void launch_link_rows(const DenseBoxView& view, const Nodes& nodes, const CellSets& sets, cudaStream_t stream) {
  with_point_types(view.precision, view.dims, [&]<class T, unsigned D>() {
    link_rows_kernel<T, D><<<direct_blocks(view.cells), tuning::kDirectThreads, 0, stream>>>(view, nodes, sets);
  });
  check_launch(stream);
}

void launch_extend_cells(const Nodes& nodes, const std::uint32_t* before, std::uint32_t* parents, std::uint8_t* gained,
                         cudaStream_t stream) {
  extend_kernel<<<direct_blocks(nodes.count), tuning::kDirectThreads, 0, stream>>>(nodes, before, parents, gained);
  check_launch(stream);
}

void launch_list_core_cells(const std::uint32_t* parents, std::uint32_t cells, std::uint32_t* list,
                            std::uint32_t* count, Scratch scratch) {
  with_scratch(scratch, [&](void* temporary, std::size_t& bytes) {
    return cub::DeviceSelect::If(temporary, bytes, thrust::counting_iterator<std::uint32_t>(0), list, count,
                                 static_cast<std::int64_t>(cells), IsCore{parents}, scratch.stream);
  });
}

void launch_unite_cells(const DenseBoxView& view, const Nodes& nodes, const CellSets& sets, CellDistance distance,
                        std::uint32_t stride, std::uint32_t row_stride, bool queue, cudaStream_t stream) {
  const std::uint32_t blocks = direct_blocks((std::uint64_t{view.cells} + stride - 1) / stride);
  with_point_types(view.precision, view.dims, [&]<class T, unsigned D>() {
    if (distance == CellDistance::adjacent) {
      unite_kernel<T, D, CellDistance::adjacent>
          <<<blocks, tuning::kDirectThreads, 0, stream>>>(view, nodes, sets, stride, row_stride, queue);
    } else {
      unite_kernel<T, D, CellDistance::two_apart>
          <<<blocks, tuning::kDirectThreads, 0, stream>>>(view, nodes, sets, stride, row_stride, queue);
    }
  });
  check_launch(stream);
}

}  // namespace epsflow::gpu
