// Whose memory an array is in.
#pragma once

#include <optional>
#include <string>

namespace epsflow::gpu {

/// The GPU whose memory `data` is in, or whose driver manages it for all: then `current`. None for memory of the host. Leaves no error of CUDA
/// behind.
[[nodiscard]] std::optional<int> gpu_of(const void* data, int current) noexcept;

/// Throws UsageError, which names `what`, where an array is in the memory of another GPU than `device`, on which the points are.
void require_not_elsewhere(const void* data, const std::string& what, int device);

}  // namespace epsflow::gpu
