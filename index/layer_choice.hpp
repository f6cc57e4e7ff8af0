// Chooses the candidates that become layers, and those that only bound tiles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <epsflow/core/cancel.hpp>
#include <epsflow/index/layer_candidates.hpp>

namespace epsflow::index {

/// Returns the indices of the candidates that points are sorted by, at most kMostLayers. Greedy: each step takes the
/// candidate that, together with the ones already chosen, leaves the fewest pairs of the sample in the same bins.
/// O(sample · layers · candidates), in parallel. Throws Cancelled.
[[nodiscard]] std::vector<std::size_t> choose_sorting(std::span<const LayerCandidate> candidates,
                                                      const CancelToken& cancel);

/// Adds functions that only bound tiles, up to kMostFunctions in all. Each step takes the function with the largest
/// variance not explained by the functions already chosen. chosen: the result of choose_sorting().
void add_bounding(std::span<const LayerCandidate> candidates, std::vector<std::size_t>& chosen);

/// Returns the peak memory of both functions, in bytes, without the candidates.
[[nodiscard]] std::uint64_t choosing_bytes() noexcept;

}  // namespace epsflow::index
