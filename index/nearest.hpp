// The nearest other points of all points, on the CPU: distances, and who they are.
#pragma once

#include <cstdint>
#include <span>

#include <epsflow/core/cancel.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/core/space.hpp>
#include <epsflow/index/leaf_order.hpp>

namespace epsflow::index {

/// Sets sums[i · ks.size() + j] to the left-hand side of the rule (core/space.hpp) for point i and its ks[j]-th nearest
/// other point: the ks[j]-th smallest value over all other points. sums: [n × ks.size()]. Each k is at least 1 and less
/// than n, if n > 0. Searches for the points of a leaf together (leaf_order.hpp), and skips boxes no nearer than the
/// k-th point so far. In parallel, on the threads of the calling arena. Throws Cancelled, ResourceError.
void nearest_sums(PointsView points, const Space& space, std::span<const std::uint32_t> ks, double* sums,
                  const CancelToken& cancel);

/// Does the same for points in leaves, by position: sums[p · ks.size() + j] is the sum of the point at position p. Also
/// sets lists[p · most + i], where most is the largest of ks, to the position of its (i + 1)-th nearest other point. Of
/// points with equal sums any may come first, and any may be left out at the end. lists: [n × most].
void nearest_lists(const LeafOrder& leaves, const Space& space, std::span<const std::uint32_t> ks, double* sums,
                   std::uint32_t* lists, const CancelToken& cancel);

/// Returns the peak memory of nearest_sums(), in bytes, without the points and the sums.
[[nodiscard]] std::uint64_t nearest_bytes(std::uint64_t n, std::size_t dims) noexcept;

}  // namespace epsflow::index
