// What the index DBCV takes of one cluster: the inner points of its minimum spanning tree, with their core distances.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <epsflow/core/cancel.hpp>
#include <epsflow/core/points.hpp>

namespace epsflow {

/// Of a cluster, or of a sample of one. Real: double, or long double where squares of differences leave the range of
/// float64.
template <class Real>
struct InnerPoints {
  Real sparseness = 0;
  std::vector<double> points;  ///< row-major
  std::vector<Real> core;      ///< the core distance of each
};

/// members: the ids of a cluster, in an order that follows from their coordinates. So the result is the same, to the
/// last bit, in whatever order the points are. The tree is that of the members in [begin, end), all or a sample of
/// them; core distances are of the whole cluster. O(m · (end - begin)) for m members, in parallel. Throws Cancelled.
template <class Real>
[[nodiscard]] InnerPoints<Real> inner_points(PointsView points, std::span<const std::uint32_t> members,
                                             std::size_t begin, std::size_t end, const CancelToken& cancel);

}  // namespace epsflow
