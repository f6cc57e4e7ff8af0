#include <epsflow/gpu/base/error.hpp>
#include <epsflow/gpu/direct/clique_kernels.hpp>
#include <epsflow/gpu/direct/clique_members.cuh>
#include <epsflow/gpu/direct/clique_view.cuh>
#include <epsflow/gpu/direct/disjoint_sets.cuh>
#include <epsflow/gpu/direct/tally.cuh>

namespace epsflow::gpu {
namespace {

constexpr unsigned kThreads = tuning::kDirectThreads;

__global__ void positions_kernel(CliqueView view, std::uint32_t* positions) {
  const std::uint64_t p = direct_thread();
  if (p < view.size) positions[view.order[p]] = static_cast<std::uint32_t>(p);
}

__global__ void copy_counts_kernel(Ghosts ghosts, const std::uint32_t* positions, std::uint32_t* counts) {
  const std::uint64_t ghost = direct_thread();
  if (ghost < ghosts.count) counts[positions[ghosts.labelled + ghost]] = counts[positions[ghosts.origins[ghost]]];
}

/// The cell of a ghost that is core; kNotCore of others.
__device__ std::uint32_t core_cell(const CliqueView& view, const Nodes& nodes, const std::uint32_t* positions,
                                   std::uint64_t ghost) {
  if (ghost >= view.ghosts.count) return kNotCore;
  const std::uint32_t position = positions[view.ghosts.labelled + ghost];
  const std::uint32_t cell = view.cell_of[position];
  return Members(nodes, cell).is_core(nodes, position) ? cell : kNotCore;
}

__global__ void __launch_bounds__(kThreads)
    join_kernel(CliqueView view, Nodes nodes, const std::uint32_t* positions, std::uint32_t* parents) {
  const std::uint64_t ghost = direct_thread();
  const std::uint32_t cell = core_cell(view, nodes, positions, ghost);
  if (cell == kNotCore) return;
  DisjointSets(parents).unite(cell, view.cell_of[positions[view.ghosts.origins[ghost]]]);
}

__global__ void __launch_bounds__(kThreads)
    forget_kernel(CliqueView view, Nodes nodes, const std::uint32_t* positions, Numbering numbering) {
  constexpr std::uint32_t kLess = 0U - 1U;
  const std::uint32_t cell = core_cell(view, nodes, positions, direct_thread());
  const bool is_core = cell != kNotCore;
  add_by_block(numbering.sizes, is_core, is_core ? numbering.numbers[cell] & kNumberMask : 0, kLess);
}

}  // namespace

void launch_find_positions(const CliqueView& view, std::uint32_t* positions, cudaStream_t stream) {
  positions_kernel<<<direct_blocks(view.size), kThreads, 0, stream>>>(view, positions);
  check_launch(stream);
}

void launch_copy_counts(const Ghosts& ghosts, const std::uint32_t* positions, std::uint32_t* counts,
                        cudaStream_t stream) {
  copy_counts_kernel<<<direct_blocks(ghosts.count), kThreads, 0, stream>>>(ghosts, positions, counts);
  check_launch(stream);
}

void launch_join_ghosts(const CliqueView& view, const Nodes& nodes, const std::uint32_t* positions,
                        std::uint32_t* parents, cudaStream_t stream) {
  join_kernel<<<direct_blocks(view.ghosts.count), kThreads, 0, stream>>>(view, nodes, positions, parents);
  check_launch(stream);
}

void launch_forget_ghosts(const CliqueView& view, const Nodes& nodes, const std::uint32_t* positions,
                          const Numbering& numbering, cudaStream_t stream) {
  forget_kernel<<<direct_blocks(view.ghosts.count), kThreads, 0, stream>>>(view, nodes, positions, numbering);
  check_launch(stream);
}

}  // namespace epsflow::gpu
