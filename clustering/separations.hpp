// How far clusters are apart, as the index DBCV has it.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <epsflow/clustering/inner_points.hpp>

namespace epsflow {

/// For each of the clusters the least mutual reachability of its inner points and those of others, infinity where there are no others.
/// In parallel.
template <class Real>
[[nodiscard]] std::vector<double> separations(std::span<const InnerPoints<Real>* const> clusters, std::size_t dims,
                                              const CancelToken& cancel);

}  // namespace epsflow
