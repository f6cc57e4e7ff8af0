#include <epsflow/io/read/arrow/arrow_formats.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <arrow/array.h>
#include <arrow/config.h>
#include <arrow/io/file.h>
#include <arrow/io/interfaces.h>
#include <arrow/ipc/options.h>
#include <arrow/ipc/reader.h>
#include <arrow/memory_pool.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>
#include <arrow/util/compression.h>
#include <arrow/util/float16.h>
#include <parquet/arrow/reader.h>
#include <parquet/arrow/schema.h>
#include <parquet/exception.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>
#include <parquet/properties.h>

#include <epsflow/core/checked.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/core/points.hpp>

namespace epsflow::io {
namespace {

/// The type of what a column holds once dictionaries are looked up.
const arrow::DataType& value_type(const arrow::DataType& type) {
  if (type.id() != arrow::Type::DICTIONARY) return type;
  return *static_cast<const arrow::DictionaryType&>(type).value_type();
}

using Numbers = std::tuple<arrow::BooleanArray, arrow::Int8Array, arrow::Int16Array, arrow::Int32Array,
                           arrow::Int64Array, arrow::UInt8Array, arrow::UInt16Array, arrow::UInt32Array,
                           arrow::UInt64Array, arrow::HalfFloatArray, arrow::FloatArray, arrow::DoubleArray>;

/// Calls visit(array) with an array of numbers as what it is. Returns false for any other.
template <class Visit>
bool visit_numbers(const arrow::Array& array, Visit visit) {
  const auto visit_one_of = [&]<class... Arrays>(std::type_identity<std::tuple<Arrays...>>) {
    const auto is_one = [&]<class Array>(std::type_identity<Array>) {
      if (array.type_id() != Array::TypeClass::type_id) return false;
      visit(static_cast<const Array&>(array));
      return true;
    };
    return (is_one(std::type_identity<Arrays>()) || ...);
  };
  return visit_one_of(std::type_identity<Numbers>());
}

bool is_number(const arrow::DataType& type) {
  return arrow::is_integer(type) || arrow::is_floating(type) || type.id() == arrow::Type::BOOL;
}

template <class T, class Array>
T number_of(const Array& array, std::int64_t i) {
  if constexpr (std::is_same_v<Array, arrow::HalfFloatArray>) {
    return static_cast<T>(arrow::util::Float16::FromBits(array.Value(i)).ToDouble());
  } else {
    return static_cast<T>(array.Value(i));
  }
}

/// The values of an array that has been validated, nulls as NaN. Returns false for one of no numbers.
template <class T>
bool convert_array(const arrow::Array& array, std::vector<T>& values);

/// What the indices into a dictionary stand for.
template <class T>
bool look_up(const arrow::DictionaryArray& indices, std::vector<T>& values) {
  std::vector<T> meanings;
  if (!convert_array(*indices.dictionary(), meanings)) return false;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    if (!indices.IsNull(at)) values[i] = meanings[narrow<std::size_t>(indices.GetValueIndex(at))];
  }
  return true;
}

template <class T>
bool convert_array(const arrow::Array& array, std::vector<T>& values) {
  values.resize(narrow<std::size_t>(array.length()));
  const auto copy = [&](const auto& numbers) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = number_of<T>(numbers, static_cast<std::int64_t>(i));
  };
  const bool is_coded = array.type_id() == arrow::Type::DICTIONARY;
  if (!(is_coded ? look_up(static_cast<const arrow::DictionaryArray&>(array), values) : visit_numbers(array, copy))) {
    return false;
  }
  for (std::size_t i = 0; array.null_count() > 0 && i < values.size(); ++i) {
    if (array.IsNull(static_cast<std::int64_t>(i))) values[i] = std::numeric_limits<T>::quiet_NaN();
  }
  return true;
}

/// The integer that float64 rounds at a place of an array, in digits; empty where it holds what is there.
std::string rounded_integer(const arrow::Array& array, std::int64_t i) {
  if (array.type_id() == arrow::Type::DICTIONARY) {
    const auto& coded = static_cast<const arrow::DictionaryArray&>(array);
    return rounded_integer(*coded.dictionary(), coded.GetValueIndex(i));
  }
  std::string digits;
  visit_numbers(array, [&](const auto& numbers) {
    if constexpr (std::is_same_v<std::decay_t<decltype(numbers)>, arrow::Int64Array> ||
                  std::is_same_v<std::decay_t<decltype(numbers)>, arrow::UInt64Array>) {
      if (!is_exact(numbers.Value(i))) digits = std::to_string(numbers.Value(i));
    }
  });
  return digits;
}

void require_number(const Source& source, const ColumnList& available, std::size_t column,
                    const arrow::DataType& type) {
  if (is_number(value_type(type))) return;
  const std::string shown = show_text(type.ToString());
  if (!arrow::is_decimal(value_type(type))) {
    throw_not_numeric(source, available, column, "values of type " + shown);
  }
  throw source.error(
      "column {} holds values of type {}, which float64 would round; write them as float64, or choose other columns "
      "with ReadOptions::columns from: {}",
      available.label(column), shown, available.describe());
}

[[noreturn]] void throw_wrong_rows(const Source& source, std::uint64_t expected, std::string_view found) {
  throw source.error("damaged: it tells of {}, but holds {}; fetch the file again", format_count(expected, "row"),
                     found);
}

/// Throws where something failed: ResourceError for want of memory, else InputError with Arrow's reason.
void check_arrow(const arrow::Status& status, const Source& source, std::string_view doing) {
  if (status.ok()) return;
  if (status.IsOutOfMemory()) {
    throw source.error<ResourceError>(
        "{} needs more memory than there is; end other programs, or fetch the file again: a damaged one may claim more "
        "than it holds",
        doing);
  }
  // What follows the first line is a place in Arrow's source.
  std::string reason = status.message().substr(0, status.message().find('\n'));
  std::replace_if(
      reason.begin(), reason.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, '?');
  throw source.error("{} failed: {}; {}", doing, reason,
                     status.IsNotImplemented() ? "write the file with another compression or encoding"
                                               : "the file may be truncated or damaged, fetch it again");
}

/// The value, where there is one; throws as check_arrow().
template <class T>
T value_of(arrow::Result<T> result, const Source& source, std::string_view doing) {
  check_arrow(result.status(), source, doing);
  return std::move(result).ValueUnsafe();
}

/// Memory for what is read of one file. A damaged file claims pages and buffers of any size, and where bytes are missing
/// Arrow may fill all that was claimed with zeros. So no more is given than a whole file can need.
class FileMemory final : public arrow::ProxyMemoryPool {
 public:
  explicit FileMemory(const LibraryFile& file) : ProxyMemoryPool(arrow::default_memory_pool()), file_bytes_(file.size) {
    allow(0, 0);
  }

  /// Adds what so many chosen columns need, of so many rows. More than a data set may have are refused elsewhere.
  void allow(std::uint64_t rows, std::uint64_t columns) {
    constexpr std::uint64_t kFixed = std::uint64_t{256} << 20;  // room for dictionaries that are well compressed
    constexpr std::uint64_t kFileTimes = 4;                     // what lies in the file, and what that unpacks to
    constexpr std::uint64_t kColumn = std::uint64_t{4} << 20;   // what is read of a column at once
    constexpr std::uint64_t kValue = 2 * sizeof(double);        // unpacked, and once more converted or aligned
    rows_ = std::min(rows, kMaxPoints);
    limit_ =
        kFixed + kFileTimes * file_bytes_ + std::min<std::uint64_t>(columns, kMaxDims) * (kColumn + rows_ * kValue);
  }

  using MemoryPool::Allocate;
  using MemoryPool::Reallocate;

  arrow::Status Allocate(std::int64_t size, std::int64_t alignment, std::uint8_t** out) override {
    ARROW_RETURN_NOT_OK(check(size));
    return ProxyMemoryPool::Allocate(size, alignment, out);
  }

  arrow::Status Reallocate(std::int64_t old_size, std::int64_t new_size, std::int64_t alignment,
                           std::uint8_t** out) override {
    ARROW_RETURN_NOT_OK(check(new_size - old_size));
    return ProxyMemoryPool::Reallocate(old_size, new_size, alignment, out);
  }

 private:
  /// Not OutOfMemory: it is the file that is at fault.
  [[nodiscard]] arrow::Status check(std::int64_t more) const {
    if (more <= 0) return arrow::Status::OK();
    const auto taken = static_cast<std::uint64_t>(bytes_allocated());
    const auto size = static_cast<std::uint64_t>(more);
    if (taken <= limit_ && size <= limit_ - taken) return arrow::Status::OK();
    return arrow::Status::Invalid(fmt::format("it claims {} at once, but a file of {} with {} needs at most {} in all",
                                              format_bytes(size), format_bytes(file_bytes_), format_count(rows_, "row"),
                                              format_bytes(limit_)));
  }

  std::uint64_t file_bytes_;
  std::uint64_t rows_ = 0;
  std::uint64_t limit_ = 0;
};

std::shared_ptr<arrow::io::RandomAccessFile> open_for_arrow(const LibraryFile& file, const Source& source) {
  return value_of(arrow::io::ReadableFile::Open(file.path.string()), source, "opening the file");
}

/// The columns of a table that become coordinates, and where their values go.
class ArrowColumns {
 public:
  /// Chooses as source.options says, and throws InputError for columns that hold no numbers.
  ArrowColumns(const arrow::Schema& schema, const Source& source) : source_(source) {
    const ColumnList available{.count = narrow<std::size_t>(schema.num_fields()), .names = schema.field_names()};
    for (const std::size_t column : select_columns(source, available)) {
      const int field = narrow<int>(column);
      const arrow::DataType& type = *schema.field(field)->type();
      require_number(source, available, column, type);
      chosen_.push_back({column, 0, available.names[column], value_type(type).id() == arrow::Type::FLOAT});
      fields_.push_back(field);
    }
    std::sort(fields_.begin(), fields_.end());
    // The weights may be a coordinate as well.
    fields_.erase(std::unique(fields_.begin(), fields_.end()), fields_.end());
  }

  /// The fields of the schema that are to be read, in ascending order.
  [[nodiscard]] const std::vector<int>& fields() const noexcept { return fields_; }

  /// Tells the sink of the rows to come, and lets the memory be as large as they need.
  void begin(std::int64_t rows, std::string kind, std::uint64_t memory_taken, FileMemory& memory, PointsSink& points) {
    if (rows < 0) throw source_.error("damaged: its number of rows is negative; fetch the file again");
    rows_ = static_cast<std::uint64_t>(rows);
    points.begin({.rows = rows_,
                  .precision = precision_of(chosen_),
                  .columns = chosen_,
                  .kind = std::move(kind),
                  .memory_taken = memory_taken});
    memory.allow(rows_, fields_.size());
  }

  /// Passes over rows that nobody asks for.
  void skip(std::int64_t rows) {
    if (rows < 0 || static_cast<std::uint64_t>(rows) > rows_ - done_) throw_wrong_rows(source_, rows_, "more");
    done_ += static_cast<std::uint64_t>(rows);
  }
  /// Whether some of so many next rows are asked for.
  [[nodiscard]] bool wants(std::int64_t rows) const noexcept {
    const RowRange wanted = share_of(source_.options, rows_);
    return rows > 0 && done_ < wanted.end() && done_ + static_cast<std::uint64_t>(rows) > wanted.first;
  }

  /// The next rows, as a batch of fields() alone.
  void put(const arrow::RecordBatch& batch, PointsSink& points) {
    // Columns of other lengths, buffers that are too short, indices into a dictionary that lead nowhere.
    check_arrow(batch.ValidateFull(), source_, fmt::format("reading from row {} on", done_));
    const auto count = narrow<std::uint64_t>(batch.num_rows());
    if (count > rows_ - done_) throw_wrong_rows(source_, rows_, "more");
    with_type(precision_of(chosen_), [&](auto zero) { put_as<decltype(zero)>(batch, points); });
    done_ += count;
  }

  /// Throws InputError where rows are missing.
  void end() const {
    if (done_ != rows_) throw_wrong_rows(source_, rows_, format_count(done_));
  }

 private:
  template <class T>
  void put_as(const arrow::RecordBatch& batch, PointsSink& points) const {
    std::vector<T> values;
    for (std::size_t k = 0; k < chosen_.size(); ++k) {
      const auto place = std::lower_bound(fields_.begin(), fields_.end(), narrow<int>(chosen_[k].column));
      const arrow::Array& array = *batch.column(static_cast<int>(place - fields_.begin()));
      if (!convert_array(array, values)) {
        throw source_.error("damaged: column {} holds other values than the schema tells; fetch the file again",
                            show_text(chosen_[k].name));
      }
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (!may_be_rounded(values[i])) continue;
        const std::string digits = rounded_integer(array, static_cast<std::int64_t>(i));
        if (!digits.empty())
          throw_rounded(source_, fmt::format("row {}", done_ + i), show_text(chosen_[k].name), digits);
      }
      points.put_coordinate(done_, k, std::span<const T>(values));
    }
  }

  const Source& source_;
  std::vector<ElementChoice> chosen_;
  std::vector<int> fields_;
  std::uint64_t rows_ = 0;
  std::uint64_t done_ = 0;
};

std::unique_ptr<parquet::arrow::FileReader> open_parquet(const LibraryFile& file, const Source& source,
                                                         FileMemory& memory) {
  constexpr std::string_view kOpening = "opening the Parquet file";
  // Otherwise the chosen columns of a whole row group would be in memory at once.
  constexpr std::int64_t kRowsAtOnce = std::int64_t{1} << 16;
  constexpr std::int64_t kBytesAtOnce = std::int64_t{1} << 20;  // of each column
  parquet::ReaderProperties properties(&memory);
  properties.enable_buffered_stream();
  properties.set_buffer_size(kBytesAtOnce);
  properties.set_page_checksum_verification(true);
  parquet::ArrowReaderProperties to_arrow(/*use_threads=*/false);
  to_arrow.set_pre_buffer(false);
  to_arrow.set_batch_size(kRowsAtOnce);
  parquet::arrow::FileReaderBuilder builder;
  check_arrow(builder.Open(open_for_arrow(file, source), properties), source, kOpening);
  return value_of(builder.memory_pool(&memory)->properties(to_arrow)->Build(), source, kOpening);
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
  FileMemory memory(file);
  const auto reader = open_parquet(file, source, memory);
  std::shared_ptr<arrow::Schema> schema;
  check_arrow(reader->GetSchema(&schema), source, "reading the schema");
  ArrowColumns columns(*schema, source);
  // Structures and lists are several columns there, so that those behind them have other numbers.
  std::vector<int> leaves;
  for (const int field : columns.fields()) leaves.push_back(reader->manifest().schema_fields.at(field).column_index);
  const std::shared_ptr<parquet::FileMetaData> description = reader->parquet_reader()->metadata();
  columns.begin(description->num_rows(), describe_parquet(*description, leaves), file.memory_taken, memory, points);
  constexpr std::string_view kReading = "reading the columns";
  for (int group = 0; group < description->num_row_groups(); ++group) {
    const std::int64_t rows = description->RowGroup(group)->num_rows();
    if (!columns.wants(rows)) {
      columns.skip(rows);
      continue;
    }
    const auto batches = value_of(reader->GetRecordBatchReader({group}, leaves), source, kReading);
    while (const auto batch = value_of(batches->Next(), source, kReading)) columns.put(*batch, points);
  }
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

void parse_arrow(const LibraryFile& file, const Source& source, PointsSink& points) {
  FileMemory memory(file);
  arrow::ipc::IpcReadOptions options = arrow::ipc::IpcReadOptions::Defaults();
  options.memory_pool = &memory;
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
      file.memory_taken, memory, points);
  for (int i = 0; i < batches; ++i) {
    const auto batch = value_of(reader->ReadRecordBatch(i), source, fmt::format("reading record batch {}", i));
    if (columns.wants(batch->num_rows())) {
      columns.put(*batch, points);
    } else {
      columns.skip(batch->num_rows());
    }
  }
  columns.end();
}

Reader arrow_reader() {
  return {.parse = parse_arrow, .library = "libarrow", .version = [] {
            return "libarrow " + arrow::GetBuildInfo().version_string;
          }};
}

}  // namespace epsflow::io
