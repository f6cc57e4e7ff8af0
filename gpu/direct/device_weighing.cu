#include <epsflow/core/checked.hpp>
#include <epsflow/gpu/base/error.hpp>
#include <epsflow/gpu/base/tuning.hpp>
#include <epsflow/gpu/direct/counting.cuh>
#include <epsflow/gpu/direct/dense_box_grid.hpp>
#include <epsflow/gpu/direct/device_weighing.hpp>
#include <epsflow/gpu/direct/tally.cuh>

namespace epsflow::gpu {
namespace {

__global__ void units_kernel(const std::int64_t* of_ids, Ghosts ghosts, const std::uint32_t* order, std::uint32_t size,
                             std::int64_t* units) {
  const std::uint64_t p = direct_thread();
  if (p < size) units[p] = of_ids[ghosts.origin_of(order[p])];
}

/// The thread of a cell's first position sums up the cell, until the sum is enough.
__global__ void sum_cells_kernel(DenseBoxView view, DeviceWeightCounting weights, WeightSum* sums) {
  const std::uint64_t p = direct_thread();
  if (p >= view.size) return;
  const std::uint32_t cell = view.cell_of[p];
  if (__ldg(view.starts + cell) != p) return;
  const std::uint32_t end = __ldg(view.starts + cell + 1);
  WeightSum sum = 0;
  for (auto q = static_cast<std::uint32_t>(p); q < end && !weights.enough(sum); ++q) sum += weights.of_point(q);
  sums[cell] = sum;
}

__global__ void begin_sums_kernel(const std::int64_t* units, std::uint32_t size, WeightSum* sums) {
  const std::uint64_t p = direct_thread();
  if (p < size) sums[p] = units[p];
}

__global__ void count_sums_kernel(DeviceWeightCounting weights, std::uint32_t size, const WeightSum* sums,
                                  std::uint32_t* counts) {
  const std::uint64_t p = direct_thread();
  if (p < size) counts[p] = weights.count(sums[p]);
}

}  // namespace

DeviceWeighing::DeviceWeighing(const WeightTask& task, const std::uint32_t* order, std::uint32_t size,
                               const Ghosts& ghosts, DeviceMemory& memory, cudaStream_t stream)
    : units_(memory, stream, size),
      least_sums_(copy_of(task.levels.least_sums(), memory, stream)),
      minpts_(copy_of(task.levels.minpts(), memory, stream)) {
  units_kernel<<<direct_blocks(size), tuning::kDirectThreads, 0, stream>>>(task.loaded.units, ghosts, order, size,
                                                                           units_.data());
  check_launch(stream);
  view_ = {.units = units_.data(),
           .least_sums = least_sums_.data(),
           .minpts = minpts_.data(),
           .levels = narrow<std::uint32_t>(minpts_.size()),
           .enough = task.levels.enough()};
}

void DeviceWeighing::sum_cells(const DenseBoxView& cells, DeviceMemory& memory, cudaStream_t stream) {
  of_cells_ = {memory, stream, cells.size};  // the number of cells is not known yet
  sum_cells_kernel<<<direct_blocks(cells.size), tuning::kDirectThreads, 0, stream>>>(cells, DeviceWeightCounting{view_},
                                                                                     of_cells_.data());
  check_launch(stream);
  view_.of_cells = of_cells_.data();
}

void launch_begin_sums(const WeighingView& weights, std::uint32_t size, WeightSum* sums, cudaStream_t stream) {
  begin_sums_kernel<<<direct_blocks(size), tuning::kDirectThreads, 0, stream>>>(weights.units, size, sums);
  check_launch(stream);
}

void launch_count_sums(const WeighingView& weights, std::uint32_t size, const WeightSum* sums, std::uint32_t* counts,
                       cudaStream_t stream) {
  count_sums_kernel<<<direct_blocks(size), tuning::kDirectThreads, 0, stream>>>(DeviceWeightCounting{weights}, size,
                                                                                sums, counts);
  check_launch(stream);
}

}  // namespace epsflow::gpu
