// The verifier: are these labels DBSCAN's? Tests named properties, sequentially, with a search of its own and without
// the code that made the labels.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <epsflow/core/labels.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/core/space.hpp>
#include <epsflow/core/sweep.hpp>
#include <epsflow/core/weights.hpp>

namespace epsflow::clustering {

/// What is wrong with `labels`, [n] in input order, as the answer for `variant` on `points` in a space, with weights unless these
/// are null; empty when all holds:
///  - core points carry a cluster, and so do all their neighbours;
///  - core points that are neighbours carry the same one;
///  - a border point carries the lowest one among its core neighbours';
///  - noise has no core neighbour;
///  - the core points of a cluster are connected through core points;
///  - clusters are 0, 1, 2, … by their smallest core point id.
/// Together these admit exactly one labelling. The method is that of ArborX's verifier; neighbours come from a k-d tree,
/// so that pairs which a search missed are found too. Stops after `most` findings. O(n·log n + pairs) where eps is small
/// against the extent of the points; kVerifyBytesPerPoint.
[[nodiscard]] std::vector<std::string> verify(PointsView points, const Variant& variant,
                                              std::span<const std::int32_t> labels, std::size_t most = 10,
                                              const Space& space = {}, const WholeWeights* weights = nullptr);

/// Bytes per point that verify() takes.
inline constexpr std::uint64_t kVerifyBytesPerPoint = 20;

}  // namespace epsflow::clustering
