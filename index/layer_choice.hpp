// Which of the candidates become layers, and which of the others only bound tiles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <epsflow/core/cancel.hpp>
#include <epsflow/index/layer_candidates.hpp>

namespace epsflow::index {

/// Indices of the candidates that points are sorted by, at most kMostLayers. Greedy: each time the one is taken that, together
/// with those before, puts the fewest pairs of the sample into the same bins. O(sample · layers · candidates), in parallel. Throws
/// Cancelled.
[[nodiscard]] std::vector<std::size_t> choose_sorting(std::span<const LayerCandidate> candidates,
                                                      const CancelToken& cancel);

/// Adds functions that only bound tiles, up to kMostFunctions in all. Each time the one is taken that varies most once what the
/// functions so far tell is taken out. chosen: what choose_sorting() returned.
void add_bounding(std::span<const LayerCandidate> candidates, std::vector<std::size_t>& chosen);

/// The most that they take at a time, beside the candidates.
[[nodiscard]] std::uint64_t choosing_bytes() noexcept;

}  // namespace epsflow::index
