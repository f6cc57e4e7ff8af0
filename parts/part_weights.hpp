// Weights of points on several ranks, in the same whole units on all of them, so that sums equal the sums of one run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <epsflow/core/buffer.hpp>
#include <epsflow/core/weights.hpp>
#include <epsflow/parts/communicator.hpp>

namespace epsflow::parts {

/// Weights of the points of a rank.
struct RankWeights {
  WeightScale scale;           ///< common to all ranks
  Buffer<std::int64_t> units;  ///< weight of each point of the rank, in units of `scale`
};

/// Returns the weights of this rank in the unit that suits the weights of all ranks; nullopt if no rank has weights.
/// weights: one for each of the `points` points of this rank, or empty. Collective. O(points). Throws on every rank:
/// the errors that WholeWeights throws for the weights of all ranks, and UsageError if only some points have weights.
[[nodiscard]] std::optional<RankWeights> scale_weights(Communicator& communicator, std::span<const double> weights,
                                                       std::size_t points);

}  // namespace epsflow::parts
