// The separation of clusters as defined by the index DBCV.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <epsflow/clustering/inner_points.hpp>

namespace epsflow {

/// Returns for each cluster the least mutual reachability distance between its inner points and those of other
/// clusters, infinity if there are no others. In parallel.
template <class Real>
[[nodiscard]] std::vector<double> separations(std::span<const InnerPoints<Real>* const> clusters, std::size_t dims,
                                              const CancelToken& cancel);

}  // namespace epsflow
