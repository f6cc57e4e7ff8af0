// Threads of the kernels of trees, one for each item.
#pragma once

#include <cstdint>

#include <epsflow/gpu/base/tuning.hpp>

namespace epsflow::gpu {

inline std::uint32_t tree_blocks(std::uint64_t items) {
  return static_cast<std::uint32_t>((items + tuning::kTreeThreads - 1) / tuning::kTreeThreads);
}
/// 64-bit, because the last block may exceed 2^32 if there are nearly as many points.
__device__ inline std::uint64_t tree_thread() { return std::uint64_t{blockIdx.x} * tuning::kTreeThreads + threadIdx.x; }

}  // namespace epsflow::gpu
