#include <epsflow/gpu/base/error.hpp>
#include <epsflow/gpu/base/tuning.hpp>
#include <epsflow/gpu/direct/dense_box_kernels.hpp>
#include <epsflow/gpu/direct/dense_box_members.cuh>
#include <epsflow/gpu/direct/dense_box_view.cuh>
#include <epsflow/gpu/direct/disjoint_sets.cuh>
#include <epsflow/gpu/direct/tally.cuh>

namespace epsflow::gpu {
namespace {

__global__ void ghost_ids_kernel(Ghosts ghosts, std::uint32_t* ids) {
  const std::uint64_t ghost = direct_thread();
  if (ghost < ghosts.count) ids[ghost] = ghosts.labelled + static_cast<std::uint32_t>(ghost);
}

template <class T, unsigned D>
__global__ void members_kernel(DenseBoxView view, const void* points, std::uint32_t* ids, std::uint32_t count) {
  const std::uint64_t i = direct_thread();
  if (i >= count) return;
  const std::uint32_t id = ids[i];
  const std::uint32_t cell = cell_at(view, cell_key(view, load_coordinates<T, D>(points, id), id));
  ids[i] = first_not(view.starts[cell], view.starts[cell + 1],
                     [&](std::uint32_t position) { return view.order[position] < id; });
}

__global__ void copy_counts_kernel(std::uint32_t ghosts, GhostPositions positions, std::uint32_t* counts) {
  const std::uint64_t ghost = direct_thread();
  if (ghost < ghosts) counts[positions.ghosts[ghost]] = counts[positions.origins[ghost]];
}

/// Returns the cell of a ghost that is core, or kNotCore.
__device__ std::uint32_t core_cell(const DenseBoxView& view, const Nodes& nodes, const GhostPositions& positions,
                                   std::uint64_t ghost) {
  if (ghost >= view.ghosts.count) return kNotCore;
  const std::uint32_t position = positions.ghosts[ghost];
  const std::uint32_t cell = view.cell_of[position];
  return Members(nodes, cell).is_core(nodes, position) ? cell : kNotCore;
}

__global__ void __launch_bounds__(tuning::kDirectThreads)
    join_kernel(DenseBoxView view, Nodes nodes, GhostPositions positions, std::uint32_t* parents) {
  const std::uint64_t ghost = direct_thread();
  const std::uint32_t cell = core_cell(view, nodes, positions, ghost);
  if (cell == kNotCore) return;
  DisjointSets(parents).unite(cell, view.cell_of[positions.origins[ghost]]);
}

__global__ void __launch_bounds__(tuning::kDirectThreads)
    forget_kernel(DenseBoxView view, Nodes nodes, GhostPositions positions, Numbering numbering) {
  constexpr std::uint32_t kLess = 0U - 1U;
  const std::uint32_t cell = core_cell(view, nodes, positions, direct_thread());
  const bool is_core = cell != kNotCore;
  add_by_block(numbering.sizes, is_core, is_core ? numbering.numbers[cell] & kNumberMask : 0, kLess);
}

}  // namespace

void launch_find_members(const DenseBoxView& view, PointsOnDevice points, std::uint32_t* ids, std::uint32_t count,
                         cudaStream_t stream) {
  if (count == 0) return;
  with_point_types(view.precision, view.dims, [&]<class T, unsigned D>() {
    members_kernel<T, D><<<direct_blocks(count), tuning::kDirectThreads, 0, stream>>>(view, points.data, ids, count);
  });
  check_launch(stream);
}

void launch_ghost_ids(const Ghosts& ghosts, std::uint32_t* ids, cudaStream_t stream) {
  ghost_ids_kernel<<<direct_blocks(ghosts.count), tuning::kDirectThreads, 0, stream>>>(ghosts, ids);
  check_launch(stream);
}

void launch_copy_counts(std::uint32_t ghosts, const GhostPositions& positions, std::uint32_t* counts,
                        cudaStream_t stream) {
  copy_counts_kernel<<<direct_blocks(ghosts), tuning::kDirectThreads, 0, stream>>>(ghosts, positions, counts);
  check_launch(stream);
}

void launch_join_ghosts(const DenseBoxView& view, const Nodes& nodes, const GhostPositions& positions,
                        std::uint32_t* parents, cudaStream_t stream) {
  join_kernel<<<direct_blocks(view.ghosts.count), tuning::kDirectThreads, 0, stream>>>(view, nodes, positions, parents);
  check_launch(stream);
}

void launch_forget_ghosts(const DenseBoxView& view, const Nodes& nodes, const GhostPositions& positions,
                          const Numbering& numbering, cudaStream_t stream) {
  forget_kernel<<<direct_blocks(view.ghosts.count), tuning::kDirectThreads, 0, stream>>>(view, nodes, positions,
                                                                                         numbering);
  check_launch(stream);
}

}  // namespace epsflow::gpu
