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

__global__ void copy_counts_kernel(ImagesView images, std::uint32_t labelled, std::uint32_t* counts) {
  const std::uint64_t image = direct_thread();
  if (image >= images.count) return;
  counts[images.positions[labelled + image]] = counts[images.positions[images.origins[image]]];
}

/// The cell of an image that is core; kNotCore of others.
__device__ std::uint32_t core_cell(const CliqueView& view, const Nodes& nodes, const ImagesView& images,
                                   std::uint64_t image) {
  if (image >= images.count) return kNotCore;
  const std::uint32_t position = images.positions[view.labelled + image];
  const std::uint32_t cell = view.cell_of[position];
  return Members(nodes, cell).is_core(nodes, position) ? cell : kNotCore;
}

__global__ void __launch_bounds__(kThreads)
    join_kernel(CliqueView view, Nodes nodes, ImagesView images, std::uint32_t* parents) {
  const std::uint64_t image = direct_thread();
  const std::uint32_t cell = core_cell(view, nodes, images, image);
  if (cell == kNotCore) return;
  DisjointSets(parents).unite(cell, view.cell_of[images.positions[images.origins[image]]]);
}

__global__ void __launch_bounds__(kThreads)
    forget_kernel(CliqueView view, Nodes nodes, ImagesView images, Numbering numbering) {
  constexpr std::uint32_t kLess = 0U - 1U;
  const std::uint32_t cell = core_cell(view, nodes, images, direct_thread());
  const bool is_core = cell != kNotCore;
  add_by_block(numbering.sizes, is_core, is_core ? numbering.numbers[cell] & kNumberMask : 0, kLess);
}

}  // namespace

void launch_find_positions(const CliqueView& view, std::uint32_t* positions, cudaStream_t stream) {
  positions_kernel<<<direct_blocks(view.size), kThreads, 0, stream>>>(view, positions);
  check_launch(stream);
}

void launch_copy_counts(const ImagesView& images, std::uint32_t labelled, std::uint32_t* counts, cudaStream_t stream) {
  copy_counts_kernel<<<direct_blocks(images.count), kThreads, 0, stream>>>(images, labelled, counts);
  check_launch(stream);
}

void launch_join_images(const CliqueView& view, const Nodes& nodes, const ImagesView& images, std::uint32_t* parents,
                        cudaStream_t stream) {
  join_kernel<<<direct_blocks(images.count), kThreads, 0, stream>>>(view, nodes, images, parents);
  check_launch(stream);
}

void launch_forget_images(const CliqueView& view, const Nodes& nodes, const ImagesView& images,
                          const Numbering& numbering, cudaStream_t stream) {
  forget_kernel<<<direct_blocks(images.count), kThreads, 0, stream>>>(view, nodes, images, numbering);
  check_launch(stream);
}

}  // namespace epsflow::gpu
