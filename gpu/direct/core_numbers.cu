#include <epsflow/gpu/base/error.hpp>
#include <epsflow/gpu/base/tuning.hpp>
#include <epsflow/gpu/direct/device_core.hpp>
#include <epsflow/gpu/direct/tally.cuh>

namespace epsflow::gpu {
namespace {

__global__ void no_numbers_kernel(std::uint32_t* numbers, std::uint32_t cells) {
  const std::uint64_t cell = direct_thread();
  if (cell < cells) numbers[cell] = kNoNumber;
}

__global__ void core_numbers_kernel(DenseBoxView view, const std::int32_t* labels, std::uint32_t count,
                                    std::uint32_t* core_bits, std::uint32_t* numbers, std::uint32_t* differ) {
  const std::uint64_t thread = direct_thread();
  const auto p = static_cast<std::uint32_t>(thread);
  const std::uint32_t id = thread < view.size ? view.order[p] : count;
  const bool is_core = id < count;
  const unsigned bits = __ballot_sync(tuning::kWholeWarp, is_core);
  if (threadIdx.x % 32 == 0 && thread < view.size) core_bits[p / 32] = bits;
  if (!is_core) return;
  const auto number = static_cast<std::uint32_t>(labels[id]);
  std::uint32_t* const of_cell = numbers + view.cell_of[p];
  // Most core points find the number that another point of their cell has written.
  if (*static_cast<volatile std::uint32_t*>(of_cell) == number) return;
  const std::uint32_t before = atomicMin(of_cell, number);
  if (before != kNoNumber && before != number) *differ = 1;
}

}  // namespace

void launch_core_numbers(const DenseBoxView& view, const std::int32_t* labels, std::uint32_t count,
                         std::uint32_t* core_bits, std::uint32_t* numbers, std::uint32_t* differ, cudaStream_t stream) {
  no_numbers_kernel<<<direct_blocks(view.cells), tuning::kDirectThreads, 0, stream>>>(numbers, view.cells);
  check_launch(stream);
  core_numbers_kernel<<<direct_blocks(view.size), tuning::kDirectThreads, 0, stream>>>(view, labels, count, core_bits,
                                                                                       numbers, differ);
  check_launch(stream);
}

}  // namespace epsflow::gpu
