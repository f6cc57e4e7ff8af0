// The nearest other points of all points, and of new points, on the CPU: their distances, and which points they are.
#pragma once

#include <cstdint>
#include <span>

#include <epsflow/core/buffer.hpp>
#include <epsflow/core/cancel.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/core/space.hpp>
#include <epsflow/core/weights.hpp>
#include <epsflow/index/leaf_order.hpp>

namespace epsflow::index {

/// Sets sums[i · ks.size() + j] to the left-hand side of the rule (core/space.hpp) for point i and its ks[j]-th nearest
/// other point: the ks[j]-th smallest value over all other points. i: input id. sums: [n × ks.size()]. Each k is at
/// least 1 and less than n, if n > 0. Searches for the points of a leaf together (leaf_order.hpp), and skips boxes no
/// nearer than the k-th point so far. In parallel, on the threads of the calling arena. Throws Cancelled,
/// ResourceError.
void nearest_sums(PointsView points, const Space& space, std::span<const std::uint32_t> ks, double* sums,
                  const CancelToken& cancel);

/// Lists the nearest other points of each point: lists[p · length + i] is the position of the (i + 1)-th nearest to the
/// point at position p. Of points with equal sums any may come first, and any may be left out at the end. If fewer
/// points have finite sums, the rest of the list is p. length: from 0 to n − 1. lists: [n × length]. In parallel, on
/// the threads of the calling arena. Throws Cancelled, ResourceError.
void nearest_lists(const LeafOrder& leaves, const Space& space, std::size_t length, std::uint32_t* lists,
                   const CancelToken& cancel);

/// Sets sums[p] to the left-hand side of the rule (core/space.hpp) within which the weights of the points, p itself
/// included, add up to `enough` or more, for the point at position p: 0 if its own weight is enough, and infinity if
/// all weights are not. units: [n] weights by position, none below 0. sums: [n]. Memory: weighted_bytes(). In parallel,
/// on the threads of the calling arena. Throws Cancelled, ResourceError.
void weighted_sums(const LeafOrder& leaves, const Space& space, std::span<const std::int64_t> units, WeightSum enough,
                   double* sums, const CancelToken& cancel);

/// Returns the most memory that weighted_sums() takes, in bytes. It is proportional to the number of threads and to the
/// number of smallest positive weights that are `enough` together, because each point of a leaf that a thread searches
/// gathers up to about twice as many candidates. threads: the largest number of threads. O(n log n).
[[nodiscard]] std::uint64_t weighted_bytes(std::span<const std::int64_t> units, WeightSum enough, unsigned threads);

/// A point and the height of the pair that it forms with a new one.
struct MutualNeighbor {
  static constexpr std::uint32_t kNone = ~0U;

  double height = 0;
  std::uint32_t id = kNone;  ///< the input id of the point; kNone if the height is infinite
};

/// Returns the lowest pair of each of `queries` with one of `points`: [queries], in their order. Sums are left-hand
/// sides of the rule (core/space.hpp). The height of a pair is the largest of its sum, of the core sum of the point,
/// and of the core sum of the query: the k-th smallest sum of the query with a point, or 0 if k is 0. Of several pairs
/// of one height the result has the smallest sum, then the first point in the order of coordinates, then the smallest
/// id. points: not empty. core: the core sums of the points, by id. k: at most points.size(). In parallel, on the
/// threads of the calling arena. Throws Cancelled, ResourceError.
[[nodiscard]] Buffer<MutualNeighbor> mutual_neighbors(PointsView points, std::span<const double> core, std::uint32_t k,
                                                      PointsView queries, const Space& space,
                                                      const CancelToken& cancel);

/// Returns the peak memory of nearest_sums() for n points, in bytes, without the points and the sums.
[[nodiscard]] std::uint64_t nearest_bytes(std::uint64_t n, std::size_t dims) noexcept;

}  // namespace epsflow::index
