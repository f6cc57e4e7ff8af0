// The metric of a command: its options, and which columns are what.
#pragma once

#include <epsflow/cli/arguments.hpp>
#include <epsflow/core/metric.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/pipeline/engine.hpp>

namespace epsflow::cli {

/// --metric, --unit, --p, --scale, --box.
[[nodiscard]] OptionGroup metric_options();

/// What the command line says of the metric. Throws UsageError.
[[nodiscard]] Metric requested_metric(const Arguments& arguments);

/// Points of a great circle become two columns, those that are named as longitude and latitude, unless columns were chosen; and
/// the metric learns which comes first. Where names do not tell, a line says what is assumed, unless --quiet is given. Throws
/// UsageError for points that have no such metric.
void settle_columns(const Arguments& arguments, Points& points, Metric& metric);

/// The points on an engine of their own. Throws as Engine and Engine::load() do.
[[nodiscard]] Dataset load(const Arguments& arguments, const Points& points, const Metric& metric,
                           const Options& options, Trace* trace = nullptr);

}  // namespace epsflow::cli
