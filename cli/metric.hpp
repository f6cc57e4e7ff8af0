// The metric of a command: its options, and which columns are what.
#pragma once

#include <epsflow/cli/arguments.hpp>
#include <epsflow/core/metric.hpp>
#include <epsflow/io/file_points.hpp>
#include <epsflow/pipeline/engine.hpp>

namespace epsflow::cli {

/// --metric, --unit, --latitude-first, --p, --scale, --box.
[[nodiscard]] OptionGroup metric_options();

/// What the command line says of the metric. Throws UsageError.
[[nodiscard]] Metric requested_metric(const Arguments& arguments);

/// Puts longitude and latitude, where their names tell which is which, into the order in which the metric takes them, and what has
/// a unit into that of the metric (cli/units.hpp). Where names do not tell, a line says what is assumed, unless --quiet is given.
/// Throws UsageError for points that have no such metric, and for names and units that contradict each other or the metric.
void settle_columns(const Arguments& arguments, io::FilePoints& points, Metric& metric);

/// Of points of two columns each becomes the other.
void swap_columns(io::FilePoints& points);

/// Says where eps is an angle as large as the field of the points, which is likely in another unit, unless --quiet is given.
void doubt_eps(const Arguments& arguments, const io::FilePoints& points, const Metric& metric);

/// The points, with their weights if they have any, on an engine of their own; doubts eps. Throws as Engine and Engine::load() do.
[[nodiscard]] Dataset load(const Arguments& arguments, const io::FilePoints& points, const Metric& metric,
                           const EngineOptions& options);

}  // namespace epsflow::cli
