// The verifier: are these labels DBSCAN's? Tests named properties, sequentially and without the code that made the
// labels.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <epsflow/clustering/dbscan.hpp>

namespace epsflow::clustering {

/// What is wrong with `labels`, [n] in input order, as the answer for minpts on this table; empty when all holds:
///  - core points carry a cluster, and so do all their neighbours;
///  - core points that are neighbours carry the same one;
///  - a border point carries the lowest one among its core neighbours';
///  - noise has no core neighbour;
///  - the core points of a cluster are connected through core points;
///  - clusters are 0, 1, 2, … by their smallest core point id.
/// Together these admit exactly one labelling. The method is that of ArborX's verifier. Stops after `most` findings.
/// O(n + pairs), 13 bytes per point.
[[nodiscard]] std::vector<std::string> verify(const ClusterInput& input, std::uint32_t minpts,
                                              std::span<const std::int32_t> labels, std::size_t most = 10);

}  // namespace epsflow::clustering
