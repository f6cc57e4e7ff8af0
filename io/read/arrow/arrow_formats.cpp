#include <epsflow/io/read/arrow/arrow_formats.hpp>
#include <epsflow/io/read/first_bytes.hpp>

namespace epsflow::io {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kNeeds = "EPSFLOW_WITH_PARQUET=ON (libarrow and libparquet)";

}  // namespace

const Format& parquet_format() {
  static const Format format{
      .name = "Parquet",
      .extensions = {".parquet", ".parq", ".pq"},
      // PAR1,PAR2 may be names of columns.
      .begins = [](std::string_view bytes) { return bytes.starts_with("PAR1") && find_binary(bytes).has_value(); },
      .needs = kNeeds,
      .must_begin = "PAR1",
      .otherwise = "not a Parquet file: it does not begin with PAR1; name it by its kind",
      .reader = parquet_reader(),
  };
  return format;
}

const Format& arrow_format() {
  static const Format format{
      .name = "Arrow",
      .extensions = {".arrow", ".feather", ".ipc"},
      .magic = "ARROW1\0\0"sv,
      .needs = kNeeds,
      .must_begin = "ARROW1",
      .otherwise =
          "not an Arrow file: it does not begin with ARROW1; name it by its kind, or write an Arrow stream as a "
          "file, as pyarrow.ipc.new_file does",
      .reader = arrow_reader(),
  };
  return format;
}

}  // namespace epsflow::io
