// Writing FITS, through cfitsio.
#pragma once

#include <filesystem>

#include <epsflow/core/labels.hpp>
#include <epsflow/core/metric.hpp>
#include <epsflow/io/label_numbers.hpp>
#include <epsflow/io/write/atomic_file.hpp>

namespace epsflow::io {

/// A binary table LABELS with an int32 column LABEL, and FitsOutput::write_variant(). Atomic. Calls are
/// serialised by fits_mutex(). Errors as AtomicFile; UsageError where this build has no FITS.
void write_fits_labels(const std::filesystem::path& file, const VariantResult& result, Overwrite overwrite,
                       const Metric& metric, LabelNumbers numbers);

}  // namespace epsflow::io
