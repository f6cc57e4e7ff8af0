// Chooses functions among the candidates: the layers, by which points are sorted, and functions whose intervals only
// bound tiles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <epsflow/core/cancel.hpp>
#include <epsflow/index/layer_candidates.hpp>

namespace epsflow::index {

/// Chooses kMostLayers layers, or all candidates if there are fewer. Returns their indices, the first layer first. Two
/// points of the sample are together if they have the same bin in every chosen candidate. Greedy: each step takes the
/// candidate that leaves the fewest pairs together. candidates: not empty. O(sample · layers · candidates), in
/// parallel. Throws Cancelled.
[[nodiscard]] std::vector<std::size_t> choose_sorting(std::span<const LayerCandidate> candidates,
                                                      const CancelToken& cancel);

/// Appends candidates that only bound tiles to `chosen`, the result of choose_sorting(), up to kMostFunctions in all.
/// Each step takes the candidate whose residual has the largest variance in a linear regression on the chosen ones.
void add_bounding(std::span<const LayerCandidate> candidates, std::vector<std::size_t>& chosen);

/// Returns an upper bound of the memory of choose_sorting() and add_bounding(), in bytes, without the candidates.
[[nodiscard]] std::uint64_t choosing_bytes() noexcept;

}  // namespace epsflow::index
