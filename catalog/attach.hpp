// Attaches other points to groups, such as gas and stars to the groups of dark matter.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <epsflow/core/cancel.hpp>
#include <epsflow/core/labels.hpp>
#include <epsflow/core/metric.hpp>
#include <epsflow/core/points.hpp>

namespace epsflow {

/// The points, and the groups that they are attached to. The caller owns all of it.
struct AttachInput {
  PointsView linked;                     ///< [host] the points that were linked
  std::span<const std::int32_t> labels;  ///< [linked] the group of each, in any dialect
  PointsView others;                     ///< [host] the points to attach; as many columns as `linked`
  const Metric& metric;
  double linking_length = 0;   ///< in the unit of eps
  std::int32_t none = kNoise;  ///< the label of a point without a linked point within the linking length
};

/// Returns a label for each of the other points: the label of the nearest linked point within the linking length
/// (inclusive), or `none`. Of equally near points, the lowest id decides. If the nearest linked point is in no group,
/// its label is still returned, as in SWIFT, where the nearest particle that may link decides
/// (github.com/SWIFTSIM/SWIFT, src/fof.c). Distances are computed in float64 as in a clustering, for every metric and
/// for periodic boxes.
///
/// Runs in parallel on the threads of the calling arena. O(n log n); also visits, for each other point, all points
/// within about two linking lengths (in the six dimensions of largest variance, if there are more), and computes the
/// distances of the linked ones. Memory: about 8·(2·d + 2) bytes for each linked and each other point, d being the
/// dimensions of transformed points. Throws UsageError if there is not one label for each linked point, the columns
/// differ, there are too many points, the metric does not fit the columns, or the linking length is invalid or too
/// short for the precision of a very large box; InputError for points that the metric refuses; ResourceError,
/// Cancelled. If there are no other points, only labels and linking length are checked.
[[nodiscard]] std::vector<std::int32_t> attach(const AttachInput& input, const CancelToken& cancel = {});

}  // namespace epsflow
