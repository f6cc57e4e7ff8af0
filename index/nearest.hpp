// The distances of all points to their k-th nearest other points, on the CPU.
#pragma once

#include <cstdint>
#include <span>

#include <epsflow/core/cancel.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/core/space.hpp>

namespace epsflow::index {

/// Sets sums[i · ks.size() + j] to the left-hand side of the rule (core/space.hpp) for point i and its ks[j]-th nearest
/// other point: the ks[j]-th smallest value over all other points. sums: [n × ks.size()]. Each k is at least 1 and less
/// than n, if n > 0. Searches for the points of a leaf together (leaf_order.hpp), and skips boxes no nearer than the
/// k-th point so far. In parallel, on the threads of the calling arena. Throws Cancelled, ResourceError.
void nearest_sums(PointsView points, const Space& space, std::span<const std::uint32_t> ks, double* sums,
                  const CancelToken& cancel);

/// Returns the peak memory of nearest_sums(), in bytes, without the points and the sums.
[[nodiscard]] std::uint64_t nearest_bytes(std::uint64_t n, std::size_t dims) noexcept;

}  // namespace epsflow::index
