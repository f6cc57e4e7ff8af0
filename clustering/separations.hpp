// The separation of clusters as defined by the index DBCV.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <epsflow/clustering/inner_points.hpp>

namespace epsflow {

/// Returns for each cluster the least mutual reachability distance (the largest of the distance and the two core
/// distances) between one of its inner points and an inner point of another cluster. The value is infinity if there is
/// no such pair. In parallel. Throws Cancelled.
template <class Real>
[[nodiscard]] std::vector<double> separations(std::span<const InnerPoints<Real>* const> clusters, std::size_t dims,
                                              const CancelToken& cancel);

}  // namespace epsflow
