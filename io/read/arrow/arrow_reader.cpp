#include <epsflow/io/read/arrow/arrow_reader.hpp>

#include <string>
#include <string_view>

#include <arrow/config.h>
#include <arrow/ipc/options.h>
#include <arrow/ipc/reader.h>
#include <fmt/format.h>

#include <epsflow/core/checked.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/io/optional_formats.hpp>
#include <epsflow/io/read/arrow/arrow_columns.hpp>

namespace epsflow::io {
namespace {

void read_arrow_here(const LibraryFile& file, const Source& source, PointsSink& points) {
  arrow::ipc::IpcReadOptions options = arrow::ipc::IpcReadOptions::Defaults();
  options.memory_pool = arrow_memory();
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
      file.bytes.size, points);
  for (int i = 0; i < batches; ++i) {
    columns.put(*value_of(reader->ReadRecordBatch(i), source, fmt::format("reading record batch {}", i)), points);
  }
  columns.end();
}

}  // namespace

FormatInfo arrow_info() { return {"Arrow", true, "libarrow " + arrow::GetBuildInfo().version_string}; }

FilePoints read_arrow(ByteStream& stream, const Source& source) {
  const std::span<const char> begin = stream.peek();
  const std::string_view bytes(begin.data(), begin.size());
  if (bytes.starts_with("\xFF\xFF\xFF\xFF")) {
    throw InputError(source.name +
                     ": an Arrow stream, which is not read; write it as a file, as pyarrow.ipc.new_file does");
  }
  if (!bytes.empty() && !bytes.starts_with("ARROW1")) {
    throw InputError(source.name + ": not an Arrow file: it does not begin with ARROW1; name it by its kind");
  }
  const LibraryFile file = library_file(stream, source);
  return read_in_child(source, "libarrow", [&](PointsSink& points) { read_arrow_here(file, source, points); });
}

}  // namespace epsflow::io
