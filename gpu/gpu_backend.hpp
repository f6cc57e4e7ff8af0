// The GPU backend: index, searches and sorts run on a CUDA device; rows are copied straight into the table.
#pragma once

#include <cstdint>
#include <memory>

#include <epsflow/core/backend.hpp>

namespace epsflow::gpu {

struct GpuOptions {
  int device = -1;           ///< number of the GPU, or -1 for the one with the most free memory
  std::uint64_t memory = 0;  ///< bytes of its memory that may be held, or 0 for nine tenths of the free memory
  unsigned threads = 1;      ///< the most threads of the host that copy, and touch and pin memory
  /// The most bytes of idle pinned memory that are cached for later labels.
  std::uint64_t idle_labels = std::uint64_t{1} << 30;
};

/// Throws the error that make_gpu_backend() would throw if this GPU, or any if `wanted` is -1, is missing. Creates no
/// context.
void check_device(int wanted);

/// Throws DeviceError if there is no GPU or the GPU cannot be used, and UsageError if none of the GPUs has the
/// requested number.
[[nodiscard]] std::unique_ptr<Backend> make_gpu_backend(const GpuOptions& options);

}  // namespace epsflow::gpu
