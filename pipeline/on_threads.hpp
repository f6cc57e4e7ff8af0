// Functions of other folders, run on as many threads as EngineOptions give. They work on the CPU. Besides its own
// errors each throws UsageError for options of a GPU. attach() and track() also throw ResourceError if they would take
// more memory than the options allow.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <epsflow/catalog/attach.hpp>
#include <epsflow/clustering/agreement.hpp>
#include <epsflow/clustering/validity.hpp>
#include <epsflow/core/metric.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/pipeline/options.hpp>
#include <epsflow/tracks/track_table.hpp>
#include <epsflow/tracks/tracks.hpp>

namespace epsflow {

/// Returns a label for each of input.others: the label of the nearest linked point within the linking length, or
/// input.none (catalog/attach.hpp).
[[nodiscard]] std::vector<std::int32_t> attach(const AttachInput& input, const EngineOptions& engine,
                                               const Observer& observer = {});

/// Returns the contingency table of two labellings of the same points, [n] each. agreement() and fates() of this table
/// give figures.
[[nodiscard]] Contingency compare(std::span<const std::int32_t> a, std::span<const std::int32_t> b,
                                  const EngineOptions& engine = {});

struct TrackedSlices {
  Tracks tracks;
  std::vector<TrackRow> rows;
};

/// Calls find_tracks() and track_rows().
[[nodiscard]] TrackedSlices track(const SlicedLabels& slices, const TrackOptions& options,
                                  const EngineOptions& engine = {}, const Observer& observer = {});

/// Measures how well the clusters of a labelling are separated (clustering/validity.hpp). Throws UsageError also for
/// any metric except the Euclidean one without scale and box.
[[nodiscard]] Validity validity(PointsView points, std::span<const std::int32_t> labels, const Metric& metric,
                                const ValidityOptions& options = {}, const EngineOptions& engine = {},
                                const Observer& observer = {});

}  // namespace epsflow
