// What the index DBCV takes of one cluster: the inner points of its minimum spanning tree, with their core distances.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <epsflow/core/cancel.hpp>
#include <epsflow/core/points.hpp>

namespace epsflow {

/// Of a cluster, or of a sample of one.
struct InnerPoints {
  double sparseness = 0;
  std::vector<double> points;  ///< row-major
  std::vector<double> core;    ///< the core distance of each
};

/// members: the ids of a cluster. The tree is that of the members in [begin, end), all or a sample of them; core distances are of the
/// whole cluster. O(m · (end - begin)) for m members, in parallel.
[[nodiscard]] InnerPoints inner_points(PointsView points, std::span<const std::uint32_t> members, std::size_t begin,
                                       std::size_t end, const CancelToken& cancel);

}  // namespace epsflow
