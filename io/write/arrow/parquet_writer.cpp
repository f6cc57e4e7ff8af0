#include <epsflow/io/write/arrow/parquet_writer.hpp>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/io/interfaces.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>
#include <arrow/util/compression.h>
#include <arrow/util/key_value_metadata.h>
#include <fmt/format.h>
#include <parquet/arrow/writer.h>
#include <parquet/properties.h>

#include <epsflow/core/checked.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/io/read/source.hpp>
#include <epsflow/io/read/utf8.hpp>
#include <epsflow/io/write/table_writers.hpp>

namespace epsflow::io {
namespace {

/// Where Arrow's bytes go. Keeps the error of a file that cannot be written, which Arrow would tell in its own words.
class ArrowSink final : public arrow::io::OutputStream {
 public:
  ArrowSink(const std::filesystem::path& file, const std::filesystem::path& target) : out_(file, target) {}

  arrow::Status Write(const void* data, std::int64_t size) override {
    return keep([&] {
      out_.write(std::span(static_cast<const std::byte*>(data), narrow<std::size_t>(size)));
      written_ += size;
    });
  }
  arrow::Status Close() override {
    if (std::exchange(closed_, true)) return arrow::Status::OK();
    return keep([&] { out_.close(); });
  }
  [[nodiscard]] arrow::Result<std::int64_t> Tell() const override { return written_; }
  [[nodiscard]] bool closed() const override { return closed_; }

  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  template <class Do>
  arrow::Status keep(Do act) {
    if (failure_) return arrow::Status::IOError("writing has failed");
    try {
      act();
      return arrow::Status::OK();
    } catch (...) {
      failure_ = std::current_exception();
      return arrow::Status::IOError("writing has failed");
    }
  }

  FileStream out_;
  std::int64_t written_ = 0;
  bool closed_ = false;
  std::exception_ptr failure_;
};

std::shared_ptr<const arrow::KeyValueMetadata> metadata_of(const VariantResult& result, const Metric& metric) {
  const LabelSummary& summary = result.summary;
  std::vector<std::pair<std::string, std::string>> entries{
      {"eps", format_number(result.variant.eps)},     {"minpts", std::to_string(result.variant.minpts)},
      {"clusters", std::to_string(summary.clusters)}, {"noise", std::to_string(summary.noise)},
      {"core", std::to_string(summary.core)},         {"border", std::to_string(summary.border)},
      {"largest", std::to_string(summary.largest)},   {"metric", describe_in_full(metric)}};
  if (const std::string_view unit = eps_unit(metric); !unit.empty()) entries.emplace_back("eps_unit", unit);
  auto metadata = std::make_shared<arrow::KeyValueMetadata>();
  for (const auto& [key, value] : entries) metadata->Append(key, value);
  return metadata;
}

template <class T>
using ArrowType = typename arrow::CTypeTraits<T>::ArrowType;

std::shared_ptr<arrow::Field> field_of(const std::string& name, std::shared_ptr<arrow::DataType> type) {
  return arrow::field(name, std::move(type), /*nullable=*/false);
}

/// A table whose columns follow each other in each group of rows.
class ParquetOutput {
 public:
  ParquetOutput(const std::filesystem::path& file, std::filesystem::path target, arrow::FieldVector fields,
                const VariantResult& result, const Metric& metric)
      : target_(std::move(target)), sink_(std::make_shared<ArrowSink>(file, target_)) {
    parquet::WriterProperties::Builder properties;
    // Labels repeat, and coordinates hardly do.
    properties.disable_dictionary()->enable_dictionary(kLabelColumn);
    if (arrow::util::Codec::IsAvailable(arrow::Compression::SNAPPY)) properties.compression(arrow::Compression::SNAPPY);
    auto writer = parquet::arrow::FileWriter::Open(arrow::Schema(std::move(fields)), arrow::default_memory_pool(),
                                                   sink_, properties.build());
    check(writer.status());
    writer_ = std::move(writer).ValueUnsafe();
    check(writer_->AddKeyValueMetadata(metadata_of(result, metric)));
  }

  /// Adds to the metadata of the schema.
  void add(const char* key, const char* value) {
    check(writer_->AddKeyValueMetadata(arrow::key_value_metadata({key}, {value})));
  }

  /// Calls group(first, count) for each group of n rows, to put all of its columns.
  template <class Group>
  void write_groups(std::size_t n, Group group) {
    constexpr std::size_t kRows = std::size_t{1} << 20;
    for (std::size_t first = 0; first < n; first += kRows) {
      check(writer_->NewRowGroup());
      group(first, std::min(kRows, n - first));
    }
    check(writer_->Close());
    check(sink_->Close());
  }

  template <class T>
  void put(std::span<const T> values) {
    check(writer_->WriteColumnChunk(arrow::NumericArray<ArrowType<T>>(
        narrow<std::int64_t>(values.size()), arrow::Buffer::Wrap(values.data(), values.size()))));
  }

  void put(const arrow::Array& array) { check(writer_->WriteColumnChunk(array)); }

  void put(std::span<const std::string> texts) {
    arrow::StringBuilder builder;
    for (const std::string& text : texts) check(builder.Append(text));
    std::shared_ptr<arrow::Array> array;
    check(builder.Finish(&array));
    put(*array);
  }

  /// Of 0 and 1.
  void put_mask(std::span<const std::uint8_t> mask) {
    arrow::BooleanBuilder builder;
    check(builder.AppendValues(mask.data(), narrow<std::int64_t>(mask.size())));
    std::shared_ptr<arrow::Array> array;
    check(builder.Finish(&array));
    put(*array);
  }

 private:
  void check(const arrow::Status& status) const {
    if (status.ok()) return;
    sink_->rethrow();
    throw_cannot_write(target_, status.message());
  }

  std::filesystem::path target_;
  std::shared_ptr<ArrowSink> sink_;
  std::unique_ptr<parquet::arrow::FileWriter> writer_;
};

template <class T>
void write_coordinates(const std::filesystem::path& file, const std::filesystem::path& target,
                       std::span<const std::string> names, const LabelledRows& rows, std::span<const T> values) {
  arrow::FieldVector fields;
  if (rows.points.renumbered()) fields.push_back(field_of(kRowColumn, arrow::int64()));
  for (const std::string& name : names) fields.push_back(field_of(name, std::make_shared<ArrowType<T>>()));
  fields.push_back(field_of(kLabelColumn, arrow::int32()));
  if (rows.core) fields.push_back(field_of(kCoreColumn, arrow::boolean()));
  ParquetOutput out(file, target, std::move(fields), rows.result, rows.metric);
  RowWalker walker(rows.points.inputs);
  const std::size_t dims = rows.points.dims();
  out.write_groups(rows.points.size(), [&](std::size_t first, std::size_t count) {
    if (rows.points.renumbered()) {
      std::vector<std::int64_t> numbers(count);
      for (std::int64_t& number : numbers) number = narrow<std::int64_t>(walker.next_point()->number);
      out.put(std::span<const std::int64_t>(numbers));
    }
    std::vector<T> column(count);
    for (std::size_t k = 0; k < dims; ++k) {
      for (std::size_t i = 0; i < count; ++i) column[i] = values[(first + i) * dims + k];
      out.put(std::span<const T>(column));
    }
    out.put(std::span<const std::int32_t>(rows.result.labels).subspan(first, count));
    if (rows.core) out.put_mask(std::span<const std::uint8_t>(rows.result.core).subspan(first, count));
  });
}

bool is_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

}  // namespace

void write_parquet_labels(const std::filesystem::path& file, const VariantResult& result, Overwrite overwrite,
                          const Metric& metric, LabelNumbers numbers) {
  write_atomically(file, overwrite, [&](const std::filesystem::path& temporary) {
    ParquetOutput out(temporary, file, {field_of(kLabelColumn, arrow::int32())}, result, metric);
    if (numbers == LabelNumbers::group) out.add("numbers", kGroupMark);
    const std::span<const std::int32_t> labels(result.labels);
    out.write_groups(labels.size(),
                     [&](std::size_t first, std::size_t count) { out.put(labels.subspan(first, count)); });
  });
}

void require_parquet_names(std::span<const std::string> names) {
  for (const std::string& name : names) {
    if (is_utf8(name)) continue;
    throw UsageError(
        fmt::format("the column {} cannot be named so in Parquet, whose names are UTF-8; rename it, or "
                    "choose .csv",
                    show_text(name)));
  }
}

void write_parquet_coordinates(const std::filesystem::path& file, const std::filesystem::path& target,
                               std::span<const std::string> names, const LabelledRows& rows) {
  rows.points.view().visit([&](auto values) { write_coordinates(file, target, names, rows, values); });
}

void write_parquet_table(const std::filesystem::path& file, const std::filesystem::path& target, const Table& table,
                         const TableOrigin& origin) {
  std::vector<std::string> names;
  arrow::FieldVector fields;
  for (const TableColumn& column : table) {
    names.push_back(column.name);
    const bool text = std::holds_alternative<std::vector<std::string>>(column.values);
    const bool number = std::holds_alternative<std::vector<double>>(column.values);
    fields.push_back(field_of(column.name, text ? arrow::utf8() : number ? arrow::float64() : arrow::int64()));
  }
  require_parquet_names(names);
  ParquetOutput out(file, target, std::move(fields), origin.result, origin.metric);
  out.write_groups(table.empty() ? 0 : table.front().size(), [&](std::size_t first, std::size_t count) {
    for (const TableColumn& column : table) {
      std::visit([&](const auto& values) { out.put(std::span(values).subspan(first, count)); }, column.values);
    }
  });
}

}  // namespace epsflow::io
