#include <epsflow/io/read/readers.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
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
#include <arrow/extension_type.h>
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
#include <arrow/util/key_value_metadata.h>
#include <arrow/util/ree_util.h>
#include <parquet/arrow/reader.h>
#include <parquet/arrow/schema.h>
#include <parquet/exception.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>
#include <parquet/properties.h>
#include <nlohmann/json.hpp>

#include <epsflow/core/checked.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/core/points.hpp>

namespace epsflow::io {
namespace {

/// Returns the type of a column's values, after decoding dictionaries and runs and unwrapping extensions (tensors).
const arrow::DataType& value_type(const arrow::DataType& type) {
  switch (type.id()) {
    case arrow::Type::DICTIONARY:
      return value_type(*static_cast<const arrow::DictionaryType&>(type).value_type());
    case arrow::Type::RUN_END_ENCODED:
      return value_type(*static_cast<const arrow::RunEndEncodedType&>(type).value_type());
    case arrow::Type::EXTENSION:
      return value_type(*static_cast<const arrow::ExtensionType&>(type).storage_type());
    default:
      return type;
  }
}

template <class... Arrays>
struct OneOf {};
using Numbers = OneOf<arrow::BooleanArray, arrow::Int8Array, arrow::Int16Array, arrow::Int32Array, arrow::Int64Array,
                      arrow::UInt8Array, arrow::UInt16Array, arrow::UInt32Array, arrow::UInt64Array,
                      arrow::HalfFloatArray, arrow::FloatArray, arrow::DoubleArray>;
using Times = OneOf<arrow::TimestampArray, arrow::Date32Array, arrow::Date64Array, arrow::Time32Array,
                    arrow::Time64Array, arrow::DurationArray>;
using Vectors = OneOf<arrow::ListArray, arrow::LargeListArray, arrow::FixedSizeListArray, arrow::ListViewArray,
                      arrow::LargeListViewArray>;

template <class... Arrays>
bool is_one_of(OneOf<Arrays...> /*kinds*/, const arrow::DataType& type) {
  return ((type.id() == Arrays::TypeClass::type_id) || ...);
}

/// Calls visit(array) with the array cast to its type, if this is one of the kinds. Returns false otherwise.
template <class... Arrays, class Visit>
bool visit_one_of(OneOf<Arrays...> /*kinds*/, const arrow::Array& array, Visit visit) {
  const auto is_one = [&]<class Array>(std::type_identity<Array>) {
    if (array.type_id() != Array::TypeClass::type_id) return false;
    visit(static_cast<const Array&>(array));
    return true;
  };
  return (is_one(std::type_identity<Arrays>()) || ...);
}

/// Returns the type of the numbers in a column of numbers or of vectors.
const arrow::DataType& element_type(const arrow::DataType& type) {
  const arrow::DataType& values = value_type(type);
  return is_one_of(Vectors(), values) ? value_type(*values.field(0)->type()) : values;
}

/// Returns a time in seconds: since 1970, since midnight, or its duration.
template <class Array>
double seconds_of(const Array& times, std::int64_t i) {
  const std::int64_t time = times.Value(i);
  std::int64_t second = 1000;
  if constexpr (std::is_same_v<Array, arrow::Date32Array>) {
    constexpr double kDay = 86400;
    return kDay * static_cast<double>(time);
  } else if constexpr (!std::is_same_v<Array, arrow::Date64Array>) {
    constexpr std::array<std::int64_t, 4> kOfUnits{1, 1000, 1000000, 1000000000};
    second = kOfUnits.at(static_cast<std::size_t>(static_cast<const typename Array::TypeClass&>(*times.type()).unit()));
  }
  return static_cast<double>(time / second) + static_cast<double>(time % second) / static_cast<double>(second);
}

template <class T, class Array>
T number_of(const Array& array, std::int64_t i) {
  if constexpr (std::is_base_of_v<arrow::TemporalType, typename Array::TypeClass>) {
    return static_cast<T>(seconds_of(array, i));
  } else if constexpr (std::is_same_v<Array, arrow::HalfFloatArray>) {
    return static_cast<T>(arrow::util::Float16::FromBits(array.Value(i)).ToDouble());
  } else {
    return static_cast<T>(array.Value(i));
  }
}

/// The values of some rows, as indices into an array.
struct ValueIndices {
  static constexpr std::int64_t kMissing = -1;

  /// Finds the values, or lists, of all rows of a column.
  explicit ValueIndices(std::shared_ptr<arrow::Array> column) : array(std::move(column)) { decode(); }

  std::shared_ptr<arrow::Array> array;  ///< the array with the values
  std::vector<std::int64_t> at;  ///< index of the value of each row, or kMissing; empty: the value of row i has index i

  void list_rows() {
    if (!at.empty()) return;
    at.resize(narrow<std::size_t>(array->length()));
    std::iota(at.begin(), at.end(), std::int64_t{0});
  }

  /// Replaces dictionaries, runs and extensions by the array of their values.
  void decode() {
    for (;;) {
      const std::shared_ptr<arrow::Array> codes = array;
      switch (codes->type_id()) {
        case arrow::Type::DICTIONARY: {
          const auto& coded = static_cast<const arrow::DictionaryArray&>(*codes);
          move_to(coded.dictionary(),
                  [&](std::int64_t i) { return coded.IsNull(i) ? kMissing : coded.GetValueIndex(i); });
          break;
        }
        case arrow::Type::RUN_END_ENCODED: {
          const auto& runs = static_cast<const arrow::RunEndEncodedArray&>(*codes);
          const arrow::ArraySpan span(*runs.data());
          move_to(runs.values(),
                  [&](std::int64_t i) { return arrow::ree_util::FindPhysicalIndex(span, i, runs.offset()); });
          break;
        }
        case arrow::Type::EXTENSION:
          array = static_cast<const arrow::ExtensionArray&>(*codes).storage();
          break;
        default:
          return;
      }
    }
  }

  /// Continues with the array `next`; `index_in_next` maps an index of the present array to one of `next`.
  template <class IndexInNext>
  void move_to(std::shared_ptr<arrow::Array> next, IndexInNext index_in_next) {
    list_rows();
    for (std::int64_t& i : at) i = i == kMissing ? kMissing : index_in_next(i);
    array = std::move(next);
  }
};

/// Returns the length of the first list that is not empty; 0 if all lists are empty, nothing if the column has none.
std::optional<std::uint64_t> first_length(std::shared_ptr<arrow::Array> column) {
  if (column->length() == 0) return std::nullopt;
  ValueIndices indices(std::move(column));
  indices.list_rows();
  std::optional<std::uint64_t> length;
  visit_one_of(Vectors(), *indices.array, [&](const auto& lists) {
    for (std::size_t row = 0; row < indices.at.size() && length.value_or(0) == 0; ++row) {
      const std::int64_t i = indices.at[row];
      if (i != ValueIndices::kMissing && !lists.IsNull(i)) length = narrow<std::uint64_t>(lists.value_length(i));
    }
  });
  return length;
}

/// Returns advice for a column of a type that is not read; empty if there is none.
std::string_view remedy_for(const arrow::DataType& type) {
  if (type.id() == arrow::Type::STRUCT) return "write its fields as columns of their own";
  if (is_one_of(Times(), type)) return "write them as numbers, such as seconds";
  if (is_one_of(Vectors(), type)) return "write one list of numbers for each row";
  return {};
}

void require_number(const Source& source, const ColumnList& available, std::size_t column,
                    const arrow::DataType& type) {
  const arrow::DataType& element = element_type(type);
  if (is_one_of(Numbers(), element)) return;
  // Columns of values that are not coordinates may hold times, as in text.
  if (source.options.on_nan == NanPolicy::keep && is_one_of(Times(), element)) return;
  const std::string shown = show_text(type.ToString());
  if (arrow::is_decimal(element)) {
    throw source.error(
        "column {} holds values of type {}, which float64 would round; write them as float64, or choose other columns "
        "with ReadOptions::columns from: {}",
        available.label(column), shown, available.describe());
  }
  const std::string_view remedy = remedy_for(element);
  throw_not_numeric(
      source, available, column,
      remedy.empty() ? fmt::format("values of type {}", shown) : fmt::format("values of type {} ({})", shown, remedy));
}

[[noreturn]] void throw_wrong_rows(const Source& source, std::uint64_t expected, std::string_view found) {
  throw source.error("damaged: it tells of {}, but holds {}; fetch the file again", format_count(expected, "row"),
                     found);
}

/// Throws if the status is an error: ResourceError if memory ran out, else InputError with Arrow's reason.
void check_arrow(const arrow::Status& status, const Source& source, std::string_view doing) {
  if (status.ok()) return;
  if (status.IsOutOfMemory()) {
    throw source.error<ResourceError>(
        "{} needs more memory than there is; end other programs, or fetch the file again: a damaged one may claim more "
        "than it holds",
        doing);
  }
  // The lines after the first are positions in Arrow's source.
  std::string reason = status.message().substr(0, status.message().find('\n'));
  std::replace_if(
      reason.begin(), reason.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, '?');
  throw source.error("{} failed: {}; {}", doing, reason,
                     status.IsNotImplemented() ? "write the file with another compression or encoding"
                                               : "the file may be truncated or damaged, fetch it again");
}

/// Returns the value of a result. Throws as check_arrow().
template <class T>
T value_of(arrow::Result<T> result, const Source& source, std::string_view doing) {
  check_arrow(result.status(), source, doing);
  return std::move(result).ValueUnsafe();
}

/// The memory pool for reading one file. A damaged file claims pages and buffers of any size, and Arrow may fill
/// missing bytes with zeros up to the claimed size. So the pool grants at most the memory that an intact file needs.
class FileMemory final : public arrow::ProxyMemoryPool {
 public:
  explicit FileMemory(const LibraryFile& file) : ProxyMemoryPool(arrow::default_memory_pool()), file_bytes_(file.size) {
    allow(0, 0);
  }

  /// Sets the limit for rows of `row_values` values each. Numbers above the limits of a data set are refused elsewhere.
  void allow(std::uint64_t rows, std::uint64_t row_values) {
    constexpr std::uint64_t kFixed = std::uint64_t{256} << 20;  // for well compressed dictionaries
    constexpr std::uint64_t kFileTimes = 4;                     // bytes of the file and their unpacked form
    constexpr std::uint64_t kColumn = std::uint64_t{4} << 20;   // bytes of a column that are read at once
    constexpr std::uint64_t kValue = 2 * sizeof(double);        // unpacked, and once more converted or aligned
    rows_ = std::min(rows, kMaxPoints);
    limit_ =
        kFixed + kFileTimes * file_bytes_ + std::min<std::uint64_t>(row_values, kMaxDims) * (kColumn + rows_ * kValue);
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
  /// The error is not OutOfMemory, because the file is at fault.
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

/// Returns the names of the columns in which pandas has stored its index: the list "index_columns" of `metadata`, the
/// JSON text that files of pandas have under the key `pandas`. A RangeIndex takes no column and has no name there.
/// Empty if the list is missing or damaged.
std::set<std::string> pandas_index(std::string_view metadata) {
  using nlohmann::json;
  // Only the list is stored, so that text of any size and depth takes little memory. The list is taken as soon as it
  // ends, because pandas writes NaN among a frame's attributes as NaN, which is not valid JSON.
  bool is_index = false;
  json index;
  const auto keep = [&](int depth, json::parse_event_t event, json& parsed) {
    if (depth == 1 && event == json::parse_event_t::key) return is_index = parsed == "index_columns";
    if (depth == 1 && event == json::parse_event_t::array_end && is_index) index = parsed;
    return depth < 3;
  };
  std::ignore = json::parse(metadata, keep, /*allow_exceptions=*/false);
  std::set<std::string> names;
  for (const json& entry : index) {
    if (entry.is_string()) names.insert(entry.get<std::string>());
  }
  return names;
}

/// The columns of a table that become coordinates; puts their values into a sink.
class ArrowColumns {
 public:
  /// Calls visit(array) with parts of the column of a field, from the first row on, until it returns true.
  using Parts = std::function<void(int field, const std::function<bool(std::shared_ptr<arrow::Array>)>& visit)>;

  /// Chooses columns by source.options. Calls `parts` for the length of lists. Throws InputError if one is not numeric.
  ArrowColumns(std::shared_ptr<arrow::Schema> schema, const Source& source, Parts parts)
      : source_(source), schema_(std::move(schema)), parts_(std::move(parts)) {
    list_columns();
    chosen_ = select_elements(source, available_, [&](std::size_t column) { return count_values(column); });
    std::set<int> fields;  // a set, because the weight column may be a coordinate as well
    for (ElementChoice& choice : chosen_) {
      choice.is_float32 = element_type(type_of(choice.column)).id() == arrow::Type::FLOAT;
      if (!fields.insert(fields_of_columns_[choice.column]).second) continue;
      const std::uint64_t count = count_values(choice.column);
      const std::uint64_t values = count == kUnknownCount ? 1 : count;
      widest_ = std::max(widest_, values);
      row_values_ += std::min<std::uint64_t>(values, kMaxDims);
    }
    fields_.assign(fields.begin(), fields.end());
  }

  /// Returns the fields of the schema that must be read, in ascending order.
  [[nodiscard]] const std::vector<int>& fields() const noexcept { return fields_; }
  /// Returns the largest number of values that a chosen column has in each row.
  [[nodiscard]] std::uint64_t widest() const noexcept { return widest_; }

  /// Passes the shape to the sink, and adapts the memory limit to it.
  void begin(std::int64_t rows, std::string_view format, std::string_view pieces, std::uint64_t memory_taken,
             FileMemory& memory, ValueSink& points) {
    if (rows < 0) throw source_.error("damaged: its number of rows is negative; fetch the file again");
    rows_ = static_cast<std::uint64_t>(rows);
    const std::string index = unread_index();
    const std::string without = index.empty() ? "" : fmt::format(" without the index of pandas ({})", index);
    points.begin({.rows = rows_,
                  .columns = chosen_,
                  .kind = fmt::format("{}{}, {}", format, without, pieces),
                  .memory_taken = memory_taken});
    memory.allow(rows_, row_values_);
  }

  /// Skips rows that the share does not include.
  void skip(std::int64_t rows) {
    if (rows < 0 || static_cast<std::uint64_t>(rows) > rows_ - done_) throw_wrong_rows(source_, rows_, "more");
    done_ += static_cast<std::uint64_t>(rows);
  }
  /// True if the share includes some of the next `rows` rows.
  [[nodiscard]] bool wants(std::int64_t rows) const noexcept {
    const RowRange wanted = share_of(source_.options, rows_);
    return rows > 0 && done_ < wanted.end() && done_ + static_cast<std::uint64_t>(rows) > wanted.first;
  }

  /// Puts the next rows, given as a batch of only fields().
  void put(const arrow::RecordBatch& batch, ValueSink& points) {
    // Finds columns of unequal length, buffers that are too short, and invalid dictionary indices.
    check_arrow(batch.ValidateFull(), source_, fmt::format("reading from row {} on", done_));
    const auto count = narrow<std::uint64_t>(batch.num_rows());
    if (count > rows_ - done_) throw_wrong_rows(source_, rows_, "more");
    if (count == 0) return;
    with_type(precision_of(chosen_), [&](auto zero) { put_as<decltype(zero)>(batch, points); });
    done_ += count;
  }

  /// Throws InputError if rows are missing.
  void end() const {
    if (done_ != rows_) throw_wrong_rows(source_, rows_, format_count(done_));
  }

 private:
  /// Lists the columns. Index columns of pandas come last, and are chosen by name alone.
  void list_columns() {
    const std::shared_ptr<const arrow::KeyValueMetadata> metadata = schema_->metadata();
    const std::set<std::string> index =
        pandas_index(metadata == nullptr ? std::string() : metadata->Get("pandas").ValueOr(std::string()));
    for (const bool is_index : {false, true}) {
      for (int field = 0; field < schema_->num_fields(); ++field) {
        const std::string& name = schema_->field(field)->name();
        if (index.contains(name) != is_index) continue;
        available_.names.push_back(name);
        fields_of_columns_.push_back(field);
      }
      if (!is_index) available_.count = available_.names.size();
    }
    counts_.resize(available_.names.size());
    if (available_.count > 0 || available_.names.empty() || !source_.options.columns.empty()) return;
    throw source_.error("all of its columns are the index that pandas stored; {} from: {}", how_to_choose(source_),
                        available_.describe());
  }

  /// Returns the names of index columns that are not read by default.
  [[nodiscard]] std::string unread_index() const {
    if (!source_.options.columns.empty()) return {};
    std::vector<std::string> unread;
    for (std::size_t column = available_.count; column < available_.names.size(); ++column) {
      const bool is_read = std::ranges::any_of(chosen_, [&](const auto& choice) { return choice.column == column; });
      if (!is_read) unread.push_back(available_.names[column]);
    }
    return list_of(unread, show_name);
  }

  [[nodiscard]] const arrow::DataType& type_of(std::size_t column) const {
    return *schema_->field(fields_of_columns_[column])->type();
  }

  /// Returns the number of values that a column holds in each row. Throws InputError if it is not numeric.
  std::uint64_t count_values(std::size_t column) {
    std::optional<std::uint64_t>& count = counts_[column];
    if (count) return *count;
    const arrow::DataType& type = value_type(type_of(column));
    require_number(source_, available_, column, type_of(column));
    if (!is_one_of(Vectors(), type)) {
      count = 1;
    } else if (type.id() == arrow::Type::FIXED_SIZE_LIST) {
      count = static_cast<std::uint64_t>(std::max(0, static_cast<const arrow::FixedSizeListType&>(type).list_size()));
    } else {
      parts_(fields_of_columns_[column], [&](std::shared_ptr<arrow::Array> part) {
        check_arrow(part->ValidateFull(), source_, "reading the column " + available_.label(column));
        const std::optional<std::uint64_t> length = first_length(std::move(part));
        if (length) count = length;
        return count.value_or(0) > 0;
      });
      if (!count) count = kUnknownCount;
    }
    return *count;
  }

  /// Returns the positions of the chosen values in the next rows of their column.
  [[nodiscard]] ValueIndices find_values(std::shared_ptr<arrow::Array> column, const ElementChoice& choice) const {
    ValueIndices indices(std::move(column));
    const std::shared_ptr<arrow::Array> array = indices.array;
    visit_one_of(Vectors(), *array, [&](const auto& lists) {
      indices.list_rows();
      for (std::size_t row = 0; row < indices.at.size(); ++row) {
        std::int64_t& i = indices.at[row];
        if (i == ValueIndices::kMissing || lists.IsNull(i)) {
          i = ValueIndices::kMissing;
          continue;
        }
        require_length(row, choice.column, static_cast<std::uint64_t>(lists.value_length(i)));
        i = lists.value_offset(i) + static_cast<std::int64_t>(choice.element);
      }
      indices.array = lists.values();
      indices.decode();
    });
    return indices;
  }

  void require_length(std::size_t row, std::size_t column, std::uint64_t length) const {
    if (length == counts_[column]) return;
    throw source_.error(
        "row {}, column {} holds a list of {}, and other rows one of {}; write lists of one length, or {} from: {}",
        done_ + row, available_.label(column), format_count(length, "value"), format_count(*counts_[column]),
        how_to_choose(source_), available_.describe());
  }

  template <class T>
  void put_as(const arrow::RecordBatch& batch, ValueSink& points) const {
    std::vector<T> values(narrow<std::size_t>(batch.num_rows()));
    for (std::size_t k = 0; k < chosen_.size(); ++k) {
      const int field = fields_of_columns_[chosen_[k].column];
      const auto number = std::ranges::lower_bound(fields_, field) - fields_.begin();
      const ValueIndices indices = find_values(batch.column(static_cast<int>(number)), chosen_[k]);
      const auto take = [&](const auto& numbers) {
        take_values(numbers, indices.at, chosen_[k], std::span<T>(values));
      };
      if (!visit_one_of(Numbers(), *indices.array, take) && !visit_one_of(Times(), *indices.array, take)) {
        throw source_.error("damaged: column {} holds other values than the schema tells; fetch the file again",
                            show_text(chosen_[k].name));
      }
      points.put_coordinate(done_, k, std::span<const T>(values));
    }
  }

  template <class Array, class T>
  void take_values(const Array& numbers, std::span<const std::int64_t> indices, const ElementChoice& choice,
                   std::span<T> values) const {
    const auto take = [&](std::size_t row, std::int64_t i) {
      values[row] = number_of<T>(numbers, i);
      if constexpr (std::is_same_v<Array, arrow::Int64Array> || std::is_same_v<Array, arrow::UInt64Array>) {
        if (!may_be_rounded(values[row]) || is_exact(numbers.Value(i))) return;
        throw_rounded(source_, fmt::format("row {}", done_ + row), show_text(choice.name),
                      std::to_string(numbers.Value(i)));
      }
    };
    const bool is_plain = indices.empty() && numbers.null_count() == 0;
    for (std::size_t row = 0; is_plain && row < values.size(); ++row) take(row, static_cast<std::int64_t>(row));
    for (std::size_t row = 0; !is_plain && row < values.size(); ++row) {
      const std::int64_t i = indices.empty() ? static_cast<std::int64_t>(row) : indices[row];
      if (i == ValueIndices::kMissing || numbers.IsNull(i)) {
        values[row] = std::numeric_limits<T>::quiet_NaN();
      } else {
        take(row, i);
      }
    }
  }

  const Source& source_;
  std::shared_ptr<arrow::Schema> schema_;
  Parts parts_;
  ColumnList available_;
  std::vector<int> fields_of_columns_;                ///< index in the schema for each of available_.names
  std::vector<std::optional<std::uint64_t>> counts_;  ///< results of count_values() so far
  std::vector<ElementChoice> chosen_;
  std::vector<int> fields_;
  std::uint64_t widest_ = 1;
  std::uint64_t row_values_ = 0;  ///< values per row of all columns to be read
  std::uint64_t rows_ = 0;
  std::uint64_t done_ = 0;
};

// Without these limits, the chosen columns of a whole row group would be in memory at once.
constexpr std::uint64_t kRowsAtOnce = std::uint64_t{1} << 16;
constexpr std::uint64_t kValuesAtOnce = std::uint64_t{1} << 20;  // for columns of vectors

std::unique_ptr<parquet::arrow::FileReader> open_parquet(const LibraryFile& file, const Source& source,
                                                         FileMemory& memory) {
  constexpr std::string_view kOpening = "opening the Parquet file";
  constexpr std::int64_t kBytesAtOnce = std::int64_t{1} << 20;  // for each column
  parquet::ReaderProperties properties(&memory);
  properties.enable_buffered_stream();
  properties.set_buffer_size(kBytesAtOnce);
  properties.set_page_checksum_verification(true);
  parquet::ArrowReaderProperties to_arrow(/*use_threads=*/false);
  to_arrow.set_pre_buffer(false);
  parquet::arrow::FileReaderBuilder builder;
  check_arrow(builder.Open(open_for_arrow(file, source), properties), source, kOpening);
  return value_of(builder.memory_pool(&memory)->properties(to_arrow)->Build(), source, kOpening);
}

/// Returns, for example, "3 row groups, snappy".
std::string describe_groups(const parquet::FileMetaData& file, const std::vector<int>& columns) {
  std::set<std::string> codecs;
  for (int group = 0; group < file.num_row_groups(); ++group) {
    const auto chunks = file.RowGroup(group);
    for (const int column : columns) {
      codecs.insert(arrow::util::Codec::GetCodecAsString(chunks->ColumnChunk(column)->compression()));
    }
  }
  std::string text = format_count(narrow<std::uint64_t>(file.num_row_groups()), "row group");
  for (const std::string& codec : codecs) text += ", " + codec;
  return text;
}

void read_parquet(const LibraryFile& file, const Source& source, ValueSink& points) {
  FileMemory memory(file);
  const auto reader = open_parquet(file, source, memory);
  std::shared_ptr<arrow::Schema> schema;
  check_arrow(reader->GetSchema(&schema), source, "reading the schema");
  constexpr std::string_view kReading = "reading the columns";
  const std::shared_ptr<parquet::FileMetaData> description = reader->parquet_reader()->metadata();
  // Parquet numbers the leaves of structures and lists as columns, so that later fields have other numbers there.
  const auto leaf_of = [&](int field) {
    const parquet::arrow::SchemaField* leaf = &reader->manifest().schema_fields.at(field);
    while (!leaf->is_leaf()) leaf = &leaf->children.at(0);
    return leaf->column_index;
  };
  const auto parts = [&](int field, const auto& visit) {
    constexpr std::int64_t kFirstRows = 64;
    reader->set_batch_size(kFirstRows);
    std::vector<int> groups(narrow<std::size_t>(description->num_row_groups()));
    std::iota(groups.begin(), groups.end(), 0);
    const auto batches = value_of(reader->GetRecordBatchReader(groups, {leaf_of(field)}), source, kReading);
    while (const auto batch = value_of(batches->Next(), source, kReading)) {
      if (visit(batch->column(0))) break;
    }
  };
  ArrowColumns columns(schema, source, parts);
  reader->set_batch_size(std::clamp<std::int64_t>(kValuesAtOnce / columns.widest(), 1, kRowsAtOnce));
  std::vector<int> leaves;
  for (const int field : columns.fields()) leaves.push_back(leaf_of(field));
  columns.begin(description->num_rows(), "Parquet", describe_groups(*description, leaves), file.memory_taken, memory,
                points);
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

void parse_parquet(const LibraryFile& file, const Source& source, ValueSink& points) {
  try {
    read_parquet(file, source, points);
  } catch (const parquet::ParquetException& error) {  // calls of libparquet outside of Arrow's interface throw
    check_arrow(arrow::Status::IOError(error.what()), source, "reading the Parquet file");
  }
}

void parse_arrow(const LibraryFile& file, const Source& source, ValueSink& points) {
  FileMemory memory(file);
  arrow::ipc::IpcReadOptions options = arrow::ipc::IpcReadOptions::Defaults();
  options.memory_pool = &memory;
  options.use_threads = false;
  options.ensure_alignment = arrow::ipc::Alignment::kDataTypeSpecificAlignment;
  const auto bytes = open_for_arrow(file, source);
  // Opens the file for the given fields; for all if there are none.
  const auto open = [&](const std::vector<int>& fields) {
    options.included_fields = fields;
    return value_of(arrow::ipc::RecordBatchFileReader::Open(bytes, options), source, "opening the Arrow file");
  };
  const auto read_batch = [&](auto& reader, int i) {
    return value_of(reader.ReadRecordBatch(i), source, fmt::format("reading record batch {}", i));
  };
  const auto parts = [&](int field, const auto& visit) {
    const auto reader = open({field});
    for (int i = 0; i < reader->num_record_batches(); ++i) {
      if (visit(read_batch(*reader, i)->column(0))) break;
    }
  };
  ArrowColumns columns(open({})->schema(), source, parts);
  const auto reader = open(columns.fields());
  const int batches = reader->num_record_batches();
  columns.begin(
      value_of(reader->CountRows(), source, "counting the rows"), "Arrow",
      fmt::format("{} record batch{}", format_count(narrow<std::uint64_t>(batches)), batches == 1 ? "" : "es"),
      file.memory_taken, memory, points);
  for (int i = 0; i < batches; ++i) {
    const auto batch = read_batch(*reader, i);
    if (columns.wants(batch->num_rows())) {
      columns.put(*batch, points);
    } else {
      columns.skip(batch->num_rows());
    }
  }
  columns.end();
}

}  // namespace

Reader parquet_reader() {
  return {.parse = parse_parquet, .library = "libparquet", .version = [] {
            return "libparquet " + arrow::GetBuildInfo().version_string;
          }};
}

Reader arrow_reader() {
  return {.parse = parse_arrow, .library = "libarrow", .version = [] {
            return "libarrow " + arrow::GetBuildInfo().version_string;
          }};
}

}  // namespace epsflow::io
