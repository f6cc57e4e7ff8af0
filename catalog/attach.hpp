// Other points join groups: gas and stars those of dark matter.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <epsflow/core/cancel.hpp>
#include <epsflow/core/labels.hpp>
#include <epsflow/core/metric.hpp>
#include <epsflow/core/points.hpp>

namespace epsflow {

/// What others are attached to. All of it belongs to somebody else.
struct AttachInput {
  PointsView linked;                     ///< [host] the points that were linked
  std::span<const std::int32_t> labels;  ///< [linked] their groups, whatever the dialect
  PointsView others;                     ///< [host] in as many columns
  const Metric& metric;
  double linking_length = 0;   ///< in the unit of eps
  std::int32_t none = kNoise;  ///< the label of a point that has no linked point within it
};

/// The label of the nearest linked point within the linking length, exactly as far included; of equally near ones that of the lowest id. That
/// point need be in no group: its label then says so, as in SWIFT, where the nearest particle that may link decides
/// (github.com/SWIFTSIM/SWIFT, src/fof.c). Distances are those of a clustering, in float64, in each metric and in periodic boxes.
///
/// In parallel on the threads of the calling arena. O(n log n) and a test of each other point with each point within about two linking
/// lengths; memory some 8·(2·d + 2) bytes for each point of both. Throws UsageError where lengths differ and for a linking length that no
/// clustering takes; InputError for a point that the metric does not take; ResourceError, Cancelled.
[[nodiscard]] std::vector<std::int32_t> attach(const AttachInput& input, const CancelToken& cancel = {});

}  // namespace epsflow
