#include <epsflow/io/write_table.hpp>

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include <epsflow/core/error.hpp>
#include <epsflow/io/write/output_table.hpp>

namespace epsflow::io {

TableFunctions table_format(OutputFormat format) {
  switch (require_known(format)) {
    case OutputFormat::fits:
      return fits_tables();
    case OutputFormat::hdf5:
      return hdf5_tables();
    case OutputFormat::parquet:
      return parquet_tables();
    default:
      return csv_tables();
  }
}

void write_table(const std::filesystem::path& file, const std::filesystem::path& target, OutputFormat format,
                 const Table& table, const TableOrigin& origin) {
  OutputTable output{.origin = origin, .rows = table.empty() ? 0 : table.front().size()};
  std::vector<std::string> names;
  for (const TableColumn& column : table) {
    if (std::find(names.begin(), names.end(), column.name) != names.end()) {
      throw UsageError("two columns would be called " + column.name + ": rename the one of the input, or leave it out");
    }
    names.push_back(column.name);
    std::visit(
        [&]<class T>(const std::vector<T>& values) {
          output.columns.push_back({column.name, ColumnView<T>{values.data()}, column.unit});
        },
        column.values);
  }
  const TableFunctions chosen = table_format(format);
  chosen.check(names, 0, "column");
  chosen.write(file, target, output);
}

void write_table(const std::filesystem::path& target, const Table& table, const TableOrigin& origin,
                 Overwrite overwrite) {
  const OutputFormat format = output_format(target, kTableFormats);
  write_atomically(target, overwrite,
                   [&](const auto& temporary) { write_table(temporary, target, format, table, origin); });
}

}  // namespace epsflow::io
