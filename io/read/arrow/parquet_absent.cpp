// Stands in for the readers of Parquet and Arrow files in a build without Arrow.
#include <epsflow/io/read/arrow/arrow_reader.hpp>
#include <epsflow/io/read/arrow/parquet_reader.hpp>

#include <fmt/format.h>

#include <epsflow/core/error.hpp>
#include <epsflow/io/optional_formats.hpp>

namespace epsflow::io {
namespace {

/// Builds without Arrow are common, as systems have no packages of it; so there is another way out.
[[noreturn]] void throw_no_arrow(const Source& source, const FormatInfo& format) {
  throw UsageError(
      fmt::format("{}: this build reads no {}: build with {}, or write the points as CSV or NPY first, as pandas can",
                  source.name, format.name, format.detail));
}

}  // namespace

FormatInfo parquet_info() { return {"Parquet", false, "EPSFLOW_WITH_PARQUET=ON (libarrow and libparquet)"}; }
FormatInfo arrow_info() { return {"Arrow", false, parquet_info().detail}; }

FilePoints read_parquet(ByteStream&, const Source& source) { throw_no_arrow(source, parquet_info()); }
FilePoints read_arrow(ByteStream&, const Source& source) { throw_no_arrow(source, arrow_info()); }

}  // namespace epsflow::io
