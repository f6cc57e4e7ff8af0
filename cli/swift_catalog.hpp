// SWIFT's catalogue of groups: epsflow fof --dialect swift --catalog FILE.hdf5.
#pragma once

#include <cstddef>

#include <epsflow/catalog/catalog.hpp>
#include <epsflow/cli/arguments.hpp>
#include <epsflow/core/metric.hpp>

namespace epsflow::cli {

/// --cgs.
[[nodiscard]] OptionSpec cgs_option();

/// Whether --catalog is SWIFT's own.
[[nodiscard]] bool is_swift_catalog(const Arguments& arguments);

/// What can be wrong with the words. Throws UsageError.
void check_swift_catalog(const Arguments& arguments);

/// The same of the number of coordinates that were read: SWIFT's has three.
void check_swift_dims(const Arguments& arguments, std::size_t dims);

/// Writes it, of points in three dimensions, to the file of --catalog. Errors as AtomicFile.
void write_swift_catalog(const Arguments& arguments, const Catalog& catalog, const Metric& metric);

}  // namespace epsflow::cli
