#include <epsflow/io/read/arrow/arrow_columns.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <tuple>
#include <type_traits>

#include <arrow/array.h>
#include <arrow/io/file.h>
#include <arrow/type_traits.h>
#include <arrow/util/float16.h>
#include <fmt/format.h>

#include <epsflow/core/checked.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/io/read/exact_integers.hpp>

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

}  // namespace

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

std::shared_ptr<arrow::io::RandomAccessFile> open_for_arrow(const LibraryFile& file, const Source& source) {
  return value_of(arrow::io::ReadableFile::Open(file.path.string()), source, "opening the file");
}

ArrowColumns::ArrowColumns(const arrow::Schema& schema, const Source& source) : source_(source) {
  const ColumnList available{.count = narrow<std::size_t>(schema.num_fields()), .names = schema.field_names()};
  bool single = true;
  for (const std::size_t column : select_columns(source, available)) {
    const int field = narrow<int>(column);
    const arrow::DataType& type = *schema.field(field)->type();
    require_number(source, available, column, type);
    single = single && value_type(type).id() == arrow::Type::FLOAT;
    chosen_.push_back({column, 0, available.names[column]});
    fields_.push_back(field);
  }
  std::sort(fields_.begin(), fields_.end());
  if (single) precision_ = Precision::float32;
}

void ArrowColumns::begin(std::int64_t rows, std::string kind, std::uint64_t memory_taken, PointsSink& points) {
  if (rows < 0) throw source_.error("damaged: its number of rows is negative; fetch the file again");
  rows_ = static_cast<std::uint64_t>(rows);
  points.begin({.rows = rows_,
                .precision = precision_,
                .columns = chosen_,
                .kind = std::move(kind),
                .memory_taken = memory_taken});
}

void ArrowColumns::put(const arrow::RecordBatch& batch, PointsSink& points) {
  // Columns of other lengths, buffers that are too short, indices into a dictionary that lead nowhere.
  check_arrow(batch.ValidateFull(), source_, fmt::format("reading from row {} on", done_));
  const auto count = narrow<std::uint64_t>(batch.num_rows());
  if (count > rows_ - done_) throw_wrong_rows(source_, rows_, "more");
  with_type(precision_, [&](auto zero) { put_as<decltype(zero)>(batch, points); });
  done_ += count;
}

void ArrowColumns::end() const {
  if (done_ != rows_) throw_wrong_rows(source_, rows_, format_count(done_));
}

template <class T>
void ArrowColumns::put_as(const arrow::RecordBatch& batch, PointsSink& points) const {
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
      if (!digits.empty()) throw_rounded(source_, fmt::format("row {}", done_ + i), show_text(chosen_[k].name), digits);
    }
    points.put_coordinate(done_, k, std::span<const T>(values));
  }
}

}  // namespace epsflow::io
