#include <epsflow/io/write_table.hpp>

#include <cmath>
#include <set>
#include <string>
#include <type_traits>
#include <variant>

#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/io/write/csv_writer.hpp>

namespace epsflow::io {
namespace {

void require_different_names(const Table& table) {
  std::set<std::string> names;
  for (const TableColumn& column : table) {
    if (names.insert(column.name).second) continue;
    throw UsageError("two columns would be called " + column.name + ": rename the one of the input, or leave it out");
  }
}

template <class Sink>
void write_csv(Sink& out, const Table& table) {
  CsvWriter csv(out);
  for (const TableColumn& column : table) csv.text(column.name);
  csv.end_row();
  const std::size_t rows = table.empty() ? 0 : table.front().size();
  for (std::size_t row = 0; row < rows; ++row) {
    for (const TableColumn& column : table) {
      std::visit(
          [&](const auto& values) {
            const auto& value = values[row];
            using Value = std::decay_t<decltype(value)>;
            if constexpr (std::is_same_v<Value, std::string>) {
              csv.text(value);
            } else if (std::is_same_v<Value, double> && std::isnan(static_cast<double>(value))) {
              csv.nothing();
            } else {
              csv.number(value);
            }
          },
          column.values);
    }
    csv.end_row();
  }
  csv.flush();
}

}  // namespace

void write_table(const std::filesystem::path& file, const std::filesystem::path& target, OutputFormat format,
                 const Table& table, const TableOrigin& origin) {
  require_different_names(table);
  switch (require_known(format)) {
    case OutputFormat::fits:
      return write_fits_table(file, target, table, origin);
    case OutputFormat::hdf5:
      return write_hdf5_table(file, target, table, origin);
    case OutputFormat::parquet:
      return write_parquet_table(file, target, table, origin);
    default: {
      FileStream out(file, target);
      write_csv(out, table);
      out.close();
    }
  }
}

void write_table(const std::filesystem::path& target, const Table& table, const TableOrigin& origin,
                 Overwrite overwrite) {
  const OutputFormat format = output_format(target, kTableFormats);
  if (format == OutputFormat::csv) {  // which may be standard output
    require_different_names(table);
    AtomicFile out(target, overwrite);
    write_csv(out, table);
    return out.commit();
  }
  write_atomically(target, overwrite, [&](const std::filesystem::path& temporary) {
    write_table(temporary, target, format, table, origin);
  });
}

}  // namespace epsflow::io
