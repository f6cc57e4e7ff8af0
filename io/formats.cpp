#include <epsflow/io/formats.hpp>

#include <fmt/format.h>

#include <epsflow/core/error.hpp>
#include <epsflow/io/optional_formats.hpp>

namespace epsflow::io {

std::vector<FormatInfo> formats() {
  return {{"text", true, ""}, {"NPY", true, ""}, {"raw", true, ""}, npz_info(),
          fits_info(),        hdf5_info(),       parquet_info(),    arrow_info()};
}

void require_format(std::string_view name) {
  for (const FormatInfo& format : formats()) {
    if (format.name == name && !format.usable) throw_left_out(format);
  }
}

void throw_left_out(const FormatInfo& format) {
  throw UsageError(fmt::format("this build reads and writes no {}: build with {}", format.name, format.detail));
}

}  // namespace epsflow::io
