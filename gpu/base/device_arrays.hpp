// Whose memory an array is in.
#pragma once

#include <optional>

namespace epsflow::gpu {

/// The GPU whose memory `data` is in, or whose driver manages it for all: then `current`. None for memory of the host. Leaves no error of CUDA
/// behind.
[[nodiscard]] std::optional<int> gpu_of(const void* data, int current) noexcept;

/// Throws UsageError, which names `what`, where an array is not in the memory of the GPU `device`, on which the points are. A kernel that
/// reads what it cannot reach ends all work of the process on the GPU.
void require_beside_points(const void* data, const char* what, int device);

}  // namespace epsflow::gpu
