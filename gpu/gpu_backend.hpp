// The GPU backend: index, searches and sorts run on a CUDA device; rows are copied straight into the table.
#pragma once

#include <cstdint>
#include <memory>

#include <epsflow/core/backend.hpp>

namespace epsflow::gpu {

struct GpuOptions {
  int device = -1;           ///< number of the GPU, or -1 for the one with the most free memory
  std::uint64_t memory = 0;  ///< bytes of its memory that may be held, or 0 for nine tenths of the free memory
  unsigned threads = 1;      ///< threads of the host that copy, and touch and pin memory
  std::uint64_t idle_labels = std::uint64_t{1} << 30;  ///< bytes of pinned memory cached for later labels
};

/// Throws the error that make_gpu_backend() would throw for a missing GPU (-1: any). Creates no context.
void check_device(int wanted);

/// Throws UsageError for a number that no GPU has, and DeviceError if the GPU cannot be used.
[[nodiscard]] std::unique_ptr<Backend> make_gpu_backend(const GpuOptions& options);

}  // namespace epsflow::gpu
