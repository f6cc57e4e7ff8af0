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
#include <epsflow/io/write/atomic_file.hpp>
#include <epsflow/io/write/output_table.hpp>

namespace epsflow::io {
namespace {

/// Writes Arrow's bytes to a file. Keeps the error of a failed write, because Arrow's own message would replace it.
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
  const std::uint32_t size = result.variant.min_cluster_size;
  std::vector<std::pair<std::string, std::string>> entries{
      size > 0 ? std::pair("min_cluster_size", std::to_string(size))
               : std::pair("eps", format_number(result.variant.eps)),
      {"minpts", std::to_string(result.variant.minpts)},
      {"clusters", std::to_string(summary.clusters)},
      {"noise", std::to_string(summary.noise)},
      {size > 0 ? "clustered" : "core", std::to_string(summary.core)},
      {"largest", std::to_string(summary.largest)},
      {"metric", describe_in_full(metric)}};
  if (size == 0) entries.emplace_back("border", std::to_string(summary.border));
  if (const std::string_view unit = eps_unit(metric); !unit.empty()) entries.emplace_back("eps_unit", unit);
  auto metadata = std::make_shared<arrow::KeyValueMetadata>();
  for (const auto& [key, value] : entries) metadata->Append(key, value);
  return metadata;
}

/// Arrow's type of a column. Masks are bits.
template <class T>
using ArrowType =
    std::conditional_t<std::is_same_v<T, std::uint8_t>, arrow::BooleanType, typename arrow::CTypeTraits<T>::ArrowType>;

/// Writes a table in groups of rows. Within a group, one column follows the other.
class ParquetOutput {
 public:
  ParquetOutput(const std::filesystem::path& file, std::filesystem::path target, const OutputTable& table)
      : target_(std::move(target)), sink_(std::make_shared<ArrowSink>(file, target_)), table_(table) {
    arrow::FieldVector fields;
    for (const OutputColumn& column : table.columns) {
      std::visit(
          [&]<class T>(const ColumnView<T>&) {
            fields.push_back(arrow::field(column.name, std::make_shared<ArrowType<T>>(), /*nullable=*/false));
          },
          column.values);
    }
    parquet::WriterProperties::Builder properties;
    // Labels repeat, and coordinates rarely do.
    properties.disable_dictionary()->enable_dictionary(kLabelColumn);
    if (arrow::util::Codec::IsAvailable(arrow::Compression::SNAPPY)) properties.compression(arrow::Compression::SNAPPY);
    auto writer = parquet::arrow::FileWriter::Open(arrow::Schema(std::move(fields)), arrow::default_memory_pool(),
                                                   sink_, properties.build());
    check(writer.status());
    writer_ = std::move(writer).ValueUnsafe();
    check(writer_->AddKeyValueMetadata(metadata_of(table.origin.result, table.origin.metric)));
    if (table.numbers == LabelNumbers::label) return;
    check(writer_->AddKeyValueMetadata(arrow::key_value_metadata({"numbers"}, {kGroupMark})));
  }

  void write() {
    constexpr std::size_t kRows = std::size_t{1} << 20;
    for (std::size_t first = 0; first < table_.rows; first += kRows) {
      check(writer_->NewRowGroup());
      for (const OutputColumn& column : table_.columns) {
        std::visit([&](const auto& values) { put(values, first, std::min(kRows, table_.rows - first)); },
                   column.values);
      }
    }
    check(writer_->Close());
    check(sink_->Close());
  }

 private:
  template <class T>
  void put(const ColumnView<T>& values, std::size_t first, std::size_t count) {
    std::vector<T> copy;
    const std::span<const T> block = values.block(first, count, copy);
    if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, std::uint8_t>) {
      typename arrow::TypeTraits<ArrowType<T>>::BuilderType builder;
      check(builder.Reserve(narrow<std::int64_t>(count)));
      for (const T& value : block) check(builder.Append(value));
      std::shared_ptr<arrow::Array> array;
      check(builder.Finish(&array));
      check(writer_->WriteColumnChunk(*array));
    } else {
      check(writer_->WriteColumnChunk(arrow::NumericArray<ArrowType<T>>(
          narrow<std::int64_t>(count), arrow::Buffer::Wrap(block.data(), block.size()))));
    }
  }

  void check(const arrow::Status& status) const {
    if (status.ok()) return;
    sink_->rethrow();
    throw_cannot_write(target_, status.message());
  }

  std::filesystem::path target_;
  std::shared_ptr<ArrowSink> sink_;
  const OutputTable& table_;
  std::unique_ptr<parquet::arrow::FileWriter> writer_;
};

void write_parquet(const std::filesystem::path& file, const std::filesystem::path& target, const OutputTable& table) {
  ParquetOutput(file, target, table).write();
}

void check_parquet_columns(std::span<const std::string> names, std::size_t, std::string_view) {
  for (const std::string& name : names) {
    if (is_utf8(name)) continue;
    throw UsageError(
        fmt::format("the column {} cannot be named so in Parquet, whose names are UTF-8; rename it, or choose .csv",
                    show_text(name)));
  }
}

}  // namespace

TableFunctions parquet_tables() { return {.check = check_parquet_columns, .write = write_parquet}; }

}  // namespace epsflow::io
