// Stands in for the writers of Parquet in a build without Arrow.
#include <epsflow/io/read/arrow/arrow_formats.hpp>
#include <epsflow/io/write/arrow/parquet_writer.hpp>
#include <epsflow/io/write/table_writers.hpp>

namespace epsflow::io {

void write_parquet_labels(const std::filesystem::path&, const VariantResult&, Overwrite, const Metric&, LabelNumbers) {
  throw_left_out(parquet_format());
}

void require_parquet_names(std::span<const std::string>) { throw_left_out(parquet_format()); }

void write_parquet_coordinates(const std::filesystem::path&, const std::filesystem::path&, std::span<const std::string>,
                               const LabelledRows&) {
  throw_left_out(parquet_format());
}

void write_parquet_table(const std::filesystem::path&, const std::filesystem::path&, const Table&, const TableOrigin&) {
  throw_left_out(parquet_format());
}

}  // namespace epsflow::io
