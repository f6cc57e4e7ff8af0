// Computes the input of the validity index DBCV for one cluster: the inner points of its spanning tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <epsflow/core/cancel.hpp>
#include <epsflow/core/points.hpp>

namespace epsflow {

/// The inner points of a minimum spanning tree, which connects a cluster or a sample of the cluster. The length of an
/// edge is the mutual reachability distance: the largest of the distance and the two core distances. A point is inner
/// if it has at least two edges. If no point has, one point is stored. Real is double, or long double if squares would
/// overflow or underflow in double.
template <class Real>
struct InnerPoints {
  Real sparseness = 0;         ///< the longest edge between inner points; of all edges if there is none
  std::vector<double> points;  ///< [inner points × dims] row-major
  std::vector<Real> core;      ///< core distance of each point
};

/// Returns the inner points of one cluster. members: the ids of the cluster, in an order that depends on their
/// coordinates only. So the result does not depend on the order of the points, to the last bit. The tree is made of the
/// members in [begin, end), all or a sample of them; core distances use the whole cluster. O(m · (end - begin)) for m
/// members, in parallel. Throws Cancelled.
template <class Real>
[[nodiscard]] InnerPoints<Real> inner_points(PointsView points, std::span<const std::uint32_t> members,
                                             std::size_t begin, std::size_t end, const CancelToken& cancel);

}  // namespace epsflow
