// What the sources of an optional format say of it; each is defined once, by those that are there or by the one that
// stands in for them.
#pragma once

#include <epsflow/io/formats.hpp>

namespace epsflow::io {

[[nodiscard]] FormatInfo fits_info();
[[nodiscard]] FormatInfo hdf5_info();
[[nodiscard]] FormatInfo npz_info();
[[nodiscard]] FormatInfo parquet_info();
[[nodiscard]] FormatInfo arrow_info();

/// The UsageError of a format that this build leaves out.
[[noreturn]] void throw_left_out(const FormatInfo& format);

}  // namespace epsflow::io
