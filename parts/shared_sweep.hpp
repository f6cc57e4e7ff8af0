// A sweep that several engines of this process share, as the GPUs of a host do.
#pragma once

#include <span>

#include <epsflow/core/metric.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/core/points_source.hpp>
#include <epsflow/core/sweep.hpp>
#include <epsflow/parts/choose_sharing.hpp>
#include <epsflow/parts/engines.hpp>
#include <epsflow/pipeline/engine.hpp>
#include <epsflow/pipeline/options.hpp>
#include <epsflow/pipeline/sweep.hpp>

namespace epsflow::parts {

/// run_each() by several engines, or by one that cannot hold all: the same labels, bit for bit, in any order of variants. What the engines set
/// up stays for later sweeps; each takes its turns with whatever else it does. weights: empty, or
/// [n], as for Dataset::weighted(). sharing: null for choose_sharing()'s, or how; its parts are a multiple of the engines. on_result and
/// the callbacks of `observer` but before_stage are called by one engine at a time. Where parts turn out not to fit there are twice as many, three times at
/// most, or one run where a device holds all points. Of parts nothing is traced. Throws as run_each().
void run_each(PointsView points, const Metric& metric, const Sweep& sweep, const OnResult& on_result,
              std::span<const Engine> engines, const RunOptions& options = {}, const Observer& observer = {},
              std::span<const double> weights = {}, const SharingAnswer* sharing = nullptr);
/// The same by engines of its own, which are gone afterwards.
void run_each(PointsView points, const Metric& metric, const Sweep& sweep, const OnResult& on_result,
              std::span<const EngineOptions> engines, const RunOptions& options = {}, const Observer& observer = {},
              std::span<const double> weights = {}, const SharingAnswer* sharing = nullptr);

/// Whether a metric may move points, or asks where they lie: any but the norms, and those with a box or with scales.
[[nodiscard]] bool may_move(const Metric& metric);

/// The same of points that are not in memory, or not all: parts are brought as they are needed, several times. Where parts are not asked for,
/// or not to be had, and where the metric may move points, all are brought into memory first.
/// points.write is called from several threads at once, and may be called for any rows, any number of times.
void run_each(const PointsSource& points, const Metric& metric, const Sweep& sweep, const OnResult& on_result,
              std::span<const Engine> engines, const RunOptions& options = {}, const Observer& observer = {},
              std::span<const double> weights = {}, const SharingAnswer* sharing = nullptr);

void run_each(const PointsSource& points, const Metric& metric, const Sweep& sweep, const OnResult& on_result,
              std::span<const EngineOptions> engines, const RunOptions& options = {}, const Observer& observer = {},
              std::span<const double> weights = {}, const SharingAnswer* sharing = nullptr);

}  // namespace epsflow::parts
