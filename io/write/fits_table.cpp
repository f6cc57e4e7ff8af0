#include <algorithm>
#include <mutex>
#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include <epsflow/core/error.hpp>
#include <epsflow/io/write/fits_output.hpp>
#include <epsflow/io/write/table_writers.hpp>

namespace epsflow::io {
namespace {

constexpr std::size_t kMostTableColumns = 999;

struct ColumnForm {
  std::string operator()(const std::vector<std::int64_t>&) const { return "1K"; }
  std::string operator()(const std::vector<double>&) const { return "1D"; }
  std::string operator()(const std::vector<std::string>& values) const {
    std::size_t width = 1;
    for (const std::string& value : values) width = std::max(width, value.size());
    return fmt::format("{}A", width);
  }
};

/// cfitsio takes pointers to non-const, and does not write through them.
struct ColumnWriter {
  fitsfile* out;
  int column;
  int* status;

  void operator()(const std::vector<std::int64_t>& values) const {
    std::vector<LONGLONG> wide(values.begin(), values.end());
    write(TLONGLONG, wide.data(), wide.size());
  }
  void operator()(const std::vector<double>& values) const {
    write(TDOUBLE, const_cast<double*>(values.data()), values.size());
  }
  void operator()(const std::vector<std::string>& values) const {
    std::vector<char*> texts;
    texts.reserve(values.size());
    for (const std::string& value : values) texts.push_back(const_cast<char*>(value.c_str()));
    write(TSTRING, texts.data(), texts.size());
  }

 private:
  void write(int type, void* values, std::size_t size) const {
    fits_write_col(out, type, column, 1, 1, static_cast<LONGLONG>(size), values, status);
  }
};

}  // namespace

void write_fits_table(const std::filesystem::path& file, const std::filesystem::path& target, const Table& table,
                      const TableOrigin& origin) {
  if (table.size() > kMostTableColumns) {
    throw UsageError(fmt::format("{} columns are more than the {} of a table in FITS: choose .parquet or .csv",
                                 table.size(), kMostTableColumns));
  }
  std::vector<std::string> names, forms, units;
  for (const TableColumn& column : table) {
    names.push_back(column.name);
    forms.push_back(std::visit(ColumnForm{}, column.values));
    units.push_back(column.unit);
  }
  const auto pointers = [](std::vector<std::string>& texts) {
    std::vector<char*> list;
    list.reserve(texts.size());
    for (std::string& text : texts) list.push_back(text.data());
    return list;
  };
  const std::size_t rows = table.empty() ? 0 : table.front().size();
  const std::scoped_lock lock(fits_mutex());
  FitsOutput out(file, target, rows * table.size() * sizeof(double));
  int status = 0;
  fits_create_tbl(out.get(), BINARY_TBL, static_cast<LONGLONG>(rows), static_cast<int>(table.size()),
                  pointers(names).data(), pointers(forms).data(), pointers(units).data(), origin.name, &status);
  out.check(status);
  out.write_variant(origin.result.variant, origin.metric);
  for (std::size_t k = 0; k < table.size() && rows > 0; ++k) {
    std::visit(ColumnWriter{out.get(), static_cast<int>(k + 1), &status}, table[k].values);
    out.check(status);
  }
  out.close();
}

}  // namespace epsflow::io
