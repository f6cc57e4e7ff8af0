#include <epsflow/gpu/direct/clique_kernels.hpp>
#include <epsflow/gpu/direct/clique_members.cuh>
#include <epsflow/gpu/direct/clique_view.cuh>
#include <epsflow/gpu/direct/disjoint_sets.cuh>
#include <epsflow/gpu/direct/tally.cuh>
#include <epsflow/gpu/error.hpp>

namespace epsflow::gpu {
namespace {

constexpr unsigned kThreads = tuning::kDirectThreads;

__global__ void positions_kernel(CliqueView view, std::uint32_t* positions) {
  const std::uint64_t p = direct_thread();
  if (p < view.size) positions[view.order[p]] = static_cast<std::uint32_t>(p);
}

/// Calls f(cell of the image, image) for an image that is core.
template <class F>
__device__ void if_core(const CliqueView& view, const Nodes& nodes, const ImagesView& images, F f) {
  const std::uint64_t image = direct_thread();
  if (image >= images.count) return;
  const std::uint32_t position = images.positions[view.labelled + image];
  const std::uint32_t cell = view.cell_of[position];
  if (Members(nodes, cell).is_core(nodes, position)) f(cell, static_cast<std::uint32_t>(image));
}

__global__ void __launch_bounds__(kThreads)
    join_kernel(CliqueView view, Nodes nodes, ImagesView images, std::uint32_t* parents) {
  if_core(view, nodes, images, [&](std::uint32_t cell, std::uint32_t image) {
    DisjointSets(parents).unite(cell, view.cell_of[images.positions[images.origins[image]]]);
  });
}

__global__ void __launch_bounds__(kThreads)
    forget_kernel(CliqueView view, Nodes nodes, ImagesView images, Numbering numbering) {
  if_core(view, nodes, images, [&](std::uint32_t cell, std::uint32_t) {
    atomicSub(numbering.sizes + (numbering.numbers[cell] & kNumberMask), 1U);
  });
}

}  // namespace

void launch_find_positions(const CliqueView& view, std::uint32_t* positions, cudaStream_t stream) {
  positions_kernel<<<direct_blocks(view.size), kThreads, 0, stream>>>(view, positions);
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
