// Points that join the groups of epsflow fof: --attach and --attached.
#pragma once

#include <cstdint>
#include <vector>

#include <epsflow/cli/arguments.hpp>
#include <epsflow/core/cancel.hpp>
#include <epsflow/core/labels.hpp>
#include <epsflow/core/metric.hpp>
#include <epsflow/core/table.hpp>
#include <epsflow/io/file_points.hpp>

namespace epsflow::cli {

[[nodiscard]] std::vector<OptionSpec> attaching_options();

/// What can be wrong with the words. Throws UsageError, ResourceError.
void check_attaching(const Arguments& arguments);

/// The points of --attach: other particles of the snapshot that was read, or those of a file, in the same columns. read: as
/// settle_columns() left it. Throws as read_input(), and InputError where rows of them were dropped.
[[nodiscard]] io::FilePoints read_attached(const Arguments& arguments, const io::FilePoints& read,
                                           const Metric& metric);

/// Labels of points that were attached, with the counts of such a result.
[[nodiscard]] VariantResult attached_result(const VariantResult& groups, const std::vector<std::int32_t>& labels);

/// How many were attached to each of so many groups, as a column of the catalogue.
[[nodiscard]] TableColumn attached_counts(const VariantResult& attached, std::size_t groups);

}  // namespace epsflow::cli
