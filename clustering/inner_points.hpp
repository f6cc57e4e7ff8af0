// The input of the index DBCV for one cluster: inner points of its minimum spanning tree and core distances.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <epsflow/core/cancel.hpp>
#include <epsflow/core/points.hpp>

namespace epsflow {

/// The inner points of a cluster or a sample of it: the points with several edges in the minimum spanning tree, or one
/// point if there are none. Real: double, or long double if squares exceed its range.
template <class Real>
struct InnerPoints {
  Real sparseness = 0;         ///< the longest edge between inner points; of all edges if there is none
  std::vector<double> points;  ///< row-major
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
