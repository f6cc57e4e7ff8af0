// The distances of all points to their k-th nearest other points, on the CPU.
#pragma once

#include <cstdint>
#include <span>

#include <epsflow/core/cancel.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/core/space.hpp>

namespace epsflow::index {

/// sums[i · ks.size() + j]: the left-hand side of the rule (core/space.hpp) for point i and its ks[j]-th nearest other point, which is
/// the ks[j]-th smallest of these over all other points. sums: [n × ks.size()]. Each k is at least 1 and less than n, if n > 0.
/// Takes the points of a leaf together (leaf_order.hpp), and passes over boxes that are no nearer than their k-th so far.
/// In parallel, on the threads of the calling arena. Throws Cancelled, ResourceError.
void nearest_sums(PointsView points, const Space& space, std::span<const std::uint32_t> ks, double* sums,
                  const CancelToken& cancel);

/// The most memory that it takes beside the points and the sums.
[[nodiscard]] std::uint64_t nearest_bytes(std::uint64_t n, std::size_t dims) noexcept;

}  // namespace epsflow::index
