#include <epsflow/io/read/arrow/arrow_formats.hpp>

#include <string>
#include <string_view>

#include <arrow/config.h>
#include <arrow/ipc/options.h>
#include <arrow/ipc/reader.h>
#include <fmt/format.h>

#include <epsflow/core/checked.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/io/read/arrow/arrow_columns.hpp>

namespace epsflow::io {
void parse_arrow(const LibraryFile& file, const Source& source, PointsSink& points) {
  arrow::ipc::IpcReadOptions options = arrow::ipc::IpcReadOptions::Defaults();
  options.use_threads = false;
  options.ensure_alignment = arrow::ipc::Alignment::kDataTypeSpecificAlignment;
  const auto bytes = open_for_arrow(file, source);
  const auto open = [&] {
    return value_of(arrow::ipc::RecordBatchFileReader::Open(bytes, options), source, "opening the Arrow file");
  };
  ArrowColumns columns(*open()->schema(), source);
  options.included_fields = columns.fields();
  const auto reader = open();
  const int batches = reader->num_record_batches();
  columns.begin(
      value_of(reader->CountRows(), source, "counting the rows"),
      fmt::format("Arrow, {} record batch{}", format_count(narrow<std::uint64_t>(batches)), batches == 1 ? "" : "es"),
      file.memory_taken, points);
  for (int i = 0; i < batches; ++i) {
    columns.put(*value_of(reader->ReadRecordBatch(i), source, fmt::format("reading record batch {}", i)), points);
  }
  columns.end();
}

Reader arrow_reader() {
  return {.parse = parse_arrow, .library = "libarrow", .version = [] {
            return "libarrow " + arrow::GetBuildInfo().version_string;
          }};
}

}  // namespace epsflow::io
