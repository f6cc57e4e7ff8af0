// Weights of points that are on several ranks: the same whole units on all of them, so that sums are those of one run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <epsflow/core/buffer.hpp>
#include <epsflow/core/weights.hpp>
#include <epsflow/parts/exchange.hpp>

namespace epsflow::parts {

/// Weights of the points of a rank.
struct RankWeights {
  WeightScale scale;           ///< of the weights of all ranks
  Buffer<std::int64_t> units;  ///< of each point
};

/// weights: of the share of this rank, which has `points`; empty where points have none. Returns nothing if they have none anywhere.
/// Collective. O(points). Throws, on every rank, what WholeWeights would throw for the weights of all, and UsageError where some points have
/// weights and others none.
[[nodiscard]] std::optional<RankWeights> scale_weights(Exchange& exchange, std::span<const double> weights,
                                                       std::size_t points);

}  // namespace epsflow::parts
