// The verifier of labels. It tests named properties, sequentially, with its own search and no code that made labels.
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

/// Returns the errors of `labels`, [n] in input order, for the minpts and eps of `variant`. points: transformed, as
/// they are searched in `space`. variant.eps: the search radius in that space. If weights are given, they replace
/// numbers of neighbours. The list is empty if all of the following hold:
///  - core points have a cluster, and so do all their neighbours;
///  - core points that are neighbours have the same cluster;
///  - the cluster of a border point is the lowest cluster of its core neighbours;
///  - noise has no core neighbour;
///  - the core points of a cluster are connected through core points;
///  - clusters are 0, 1, 2, … by their smallest core point id.
/// Together these allow exactly one labelling. The method is ArborX's verifier; neighbours come from a k-d tree, so
/// that pairs which a search missed are found too. If the number of labels differs from the number of points, this is
/// the only error. Connectivity is tested only if the first four properties hold, numbering only if connectivity holds.
/// Returns at most `most` errors. Cannot be cancelled. O(n·log n + pairs) if eps is small compared with the extent of
/// the points; kVerifyBytesPerPoint.
[[nodiscard]] std::vector<std::string> verify(PointsView points, const Variant& variant,
                                              std::span<const std::int32_t> labels, std::size_t most = 10,
                                              const Space& space = {}, const WholeWeights* weights = nullptr);

/// Memory of verify() in bytes per point.
inline constexpr std::uint64_t kVerifyBytesPerPoint = 20;

}  // namespace epsflow::clustering
