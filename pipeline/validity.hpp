// How well the clusters of a labelling are separated.
#pragma once

#include <cstdint>
#include <span>

#include <epsflow/clustering/validity.hpp>
#include <epsflow/core/metric.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/pipeline/options.hpp>

namespace epsflow {

/// validity(points, labels, options) with the threads of the engine options and the observer's cancellation. Works on the CPU. Throws as
/// that does, and UsageError for options of a GPU and for any metric but the Euclidean one, without scale and box.
[[nodiscard]] Validity validity(PointsView points, std::span<const std::int32_t> labels, const Metric& metric,
                                const ValidityOptions& options = {}, const EngineOptions& engine = {},
                                const Observer& observer = {});

}  // namespace epsflow
