// Finds the GPU whose memory contains an array.
#pragma once

#include <optional>
#include <string>

namespace epsflow::gpu {

/// Returns the GPU whose memory contains `data`, `current` for managed memory, or nothing for host memory and null.
/// Clears the last CUDA error of the thread, even if the query did not cause it.
[[nodiscard]] std::optional<int> gpu_of(const void* data, int current) noexcept;

/// Throws UsageError if an array is in the memory of another GPU than `device`. what: the array's name in the error, a
/// plural such as "the labels".
void require_not_elsewhere(const void* data, const std::string& what, int device);

}  // namespace epsflow::gpu
