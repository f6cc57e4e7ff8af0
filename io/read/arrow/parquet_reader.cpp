#include <epsflow/io/read/arrow/arrow_formats.hpp>

#include <cstdint>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/config.h>
#include <arrow/util/compression.h>
#include <fmt/format.h>
#include <parquet/arrow/reader.h>
#include <parquet/arrow/schema.h>
#include <parquet/exception.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>
#include <parquet/properties.h>

#include <epsflow/core/checked.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/io/read/arrow/arrow_columns.hpp>

namespace epsflow::io {
namespace {

std::unique_ptr<parquet::arrow::FileReader> open_parquet(const LibraryFile& file, const Source& source) {
  constexpr std::string_view kOpening = "opening the Parquet file";
  // Otherwise the chosen columns of a whole row group would be in memory at once.
  constexpr std::int64_t kRowsAtOnce = std::int64_t{1} << 16;
  constexpr std::int64_t kBytesAtOnce = std::int64_t{1} << 20;  // of each column
  parquet::ReaderProperties properties;
  properties.enable_buffered_stream();
  properties.set_buffer_size(kBytesAtOnce);
  properties.set_page_checksum_verification(true);
  parquet::ArrowReaderProperties to_arrow(/*use_threads=*/false);
  to_arrow.set_pre_buffer(false);
  to_arrow.set_batch_size(kRowsAtOnce);
  parquet::arrow::FileReaderBuilder builder;
  check_arrow(builder.Open(open_for_arrow(file, source), properties), source, kOpening);
  return value_of(builder.properties(to_arrow)->Build(), source, kOpening);
}

/// "Parquet, 3 row groups, snappy".
std::string describe_parquet(const parquet::FileMetaData& file, const std::vector<int>& columns) {
  std::set<std::string> codecs;
  for (int group = 0; group < file.num_row_groups(); ++group) {
    const auto chunks = file.RowGroup(group);
    for (const int column : columns) {
      codecs.insert(arrow::util::Codec::GetCodecAsString(chunks->ColumnChunk(column)->compression()));
    }
  }
  std::string text = "Parquet, " + format_count(narrow<std::uint64_t>(file.num_row_groups()), "row group");
  for (const std::string& codec : codecs) text += ", " + codec;
  return text;
}

void read_parquet(const LibraryFile& file, const Source& source, PointsSink& points) {
  const auto reader = open_parquet(file, source);
  std::shared_ptr<arrow::Schema> schema;
  check_arrow(reader->GetSchema(&schema), source, "reading the schema");
  ArrowColumns columns(*schema, source);
  // Structures and lists are several columns there, so that those behind them have other numbers.
  std::vector<int> leaves;
  for (const int field : columns.fields()) leaves.push_back(reader->manifest().schema_fields.at(field).column_index);
  const std::shared_ptr<parquet::FileMetaData> description = reader->parquet_reader()->metadata();
  columns.begin(description->num_rows(), describe_parquet(*description, leaves), file.memory_taken, points);
  std::vector<int> groups(description->num_row_groups());
  std::iota(groups.begin(), groups.end(), 0);
  constexpr std::string_view kReading = "reading the columns";
  const auto batches = value_of(reader->GetRecordBatchReader(groups, leaves), source, kReading);
  while (const auto batch = value_of(batches->Next(), source, kReading)) columns.put(*batch, points);
  columns.end();
}

}  // namespace

void parse_parquet(const LibraryFile& file, const Source& source, PointsSink& points) {
  try {
    read_parquet(file, source, points);
  } catch (const parquet::ParquetException& error) {  // what is not behind Arrow's interface throws
    check_arrow(arrow::Status::IOError(error.what()), source, "reading the Parquet file");
  }
}

Reader parquet_reader() {
  return {.parse = parse_parquet, .library = "libparquet", .version = [] {
            return "libparquet " + arrow::GetBuildInfo().version_string;
          }};
}

}  // namespace epsflow::io
