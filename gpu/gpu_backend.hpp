// The GPU backend: index, searches and sorts on a CUDA device; rows land in the table's own memory.
#pragma once

#include <cstdint>
#include <memory>

#include <epsflow/core/backend.hpp>

namespace epsflow::gpu {

struct GpuOptions {
  int device = -1;           ///< number of the GPU; -1: the one with the most free memory
  std::uint64_t memory = 0;  ///< bytes of its memory that may be held; 0: nine tenths of what is free
  unsigned threads = 1;      ///< threads that touch and pin host memory
  std::uint64_t idle_labels = std::uint64_t{1} << 30;  ///< bytes of pinned memory kept for labels to come
};

/// Throws what make_gpu_backend() would throw for a GPU that is not there (-1: any). Makes no context.
void check_device(int wanted);

/// Throws UsageError for a number that no GPU has, DeviceError where the GPU cannot be used.
[[nodiscard]] std::unique_ptr<Backend> make_gpu_backend(const GpuOptions& options);

}  // namespace epsflow::gpu
