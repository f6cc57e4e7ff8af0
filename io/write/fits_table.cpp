#include <algorithm>
#include <mutex>
#include <string>
#include <type_traits>
#include <vector>

#include <fmt/format.h>

#include <epsflow/core/checked.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/io/write/fits_output.hpp>

namespace epsflow::io {
namespace {

/// A type of values: its TFORM, cfitsio's number of the type in memory, and its bytes.
struct ColumnForm {
  std::string form;
  int type;
  std::size_t bytes;
};

ColumnForm form_of(const OutputColumn& column, std::size_t rows) {
  static_assert(sizeof(long) == sizeof(std::int64_t));
  return std::visit(
      [&]<class T>(const ColumnView<T>& values) -> ColumnForm {
        if constexpr (std::is_same_v<T, std::string>) {
          const std::size_t width = text_width(values, rows);
          return {fmt::format("{}A", width), TSTRING, width};
        }
        if constexpr (std::is_same_v<T, std::int32_t>) return {"1J", TINT, sizeof(T)};
        if constexpr (std::is_same_v<T, std::int64_t>) return {"1K", TLONG, sizeof(T)};
        if constexpr (std::is_same_v<T, float>) return {"1E", TFLOAT, sizeof(T)};
        if constexpr (std::is_same_v<T, double>) return {"1D", TDOUBLE, sizeof(T)};
        return {"1B", TBYTE, sizeof(T)};
      },
      column.values);
}

/// Writes the values of rows [first, first + count) into column `number`, counted from 1. cfitsio takes pointers to
/// non-const, and does not write through them.
void write_block(const FitsOutput& out, int number, const OutputColumn& column, std::size_t first, std::size_t count) {
  const auto write = [&](void* values) {
    int status = 0;
    fits_write_col(out.get(), form_of(column, 0).type, number, narrow<LONGLONG>(first + 1), 1, narrow<LONGLONG>(count),
                   values, &status);
    out.check(status);
  };
  std::visit(
      [&]<class T>(const ColumnView<T>& values) {
        if constexpr (std::is_same_v<T, std::string>) {
          std::vector<char*> texts(count);
          for (std::size_t i = 0; i < count; ++i) texts[i] = const_cast<char*>(values[first + i].c_str());
          write(texts.data());
        } else {
          std::vector<T> copy;
          write(const_cast<T*>(values.block(first, count, copy).data()));
        }
      },
      column.values);
}

void write_fits(const std::filesystem::path& file, const std::filesystem::path& target, const OutputTable& table) {
  std::vector<std::string> texts;
  std::size_t row_bytes = 0;
  for (const OutputColumn& column : table.columns) {
    const ColumnForm form = form_of(column, table.rows);
    row_bytes += form.bytes;
    for (const std::string& text : {column.name, form.form, column.unit}) texts.push_back(text);
  }
  std::vector<char*> names, forms, units;
  for (std::size_t k = 0; k < texts.size(); k += 3) {
    names.push_back(texts[k].data());
    forms.push_back(texts[k + 1].data());
    units.push_back(texts[k + 2].data());
  }
  const std::scoped_lock lock(fits_mutex());
  FitsOutput out(file, target, table.rows * row_bytes);
  int status = 0;
  fits_create_tbl(out.get(), BINARY_TBL, narrow<LONGLONG>(table.rows), narrow<int>(table.columns.size()), names.data(),
                  forms.data(), units.data(), table.origin.name, &status);
  out.check(status);
  out.write_variant(table.origin.result.variant, table.origin.metric);
  if (table.numbers == LabelNumbers::group) fits_update_key_str(out.get(), "NUMBERS", kGroupMark, "of LABEL", &status);
  long best = 0;
  fits_get_rowsize(out.get(), &best, &status);
  out.check(status);
  const auto most = static_cast<std::size_t>(std::max(best, 1L));
  for (std::size_t first = 0; first < table.rows; first += most) {
    for (std::size_t k = 0; k < table.columns.size(); ++k) {
      write_block(out, static_cast<int>(k + 1), table.columns[k], first, std::min(most, table.rows - first));
    }
  }
  out.close();
}

void check_fits_columns(std::span<const std::string> names, std::size_t others, std::string_view what) {
  constexpr std::size_t kMostLetters = 68;
  if (names.size() + others > kMostFitsColumns) {
    throw UsageError(
        fmt::format("{} are more than a FITS table holds, which has {} columns at most; choose .parquet or .csv",
                    format_count(names.size(), what), kMostFitsColumns));
  }
  for (const std::string& name : names) {
    const auto is_printable = [](char c) { return c >= ' ' && c <= '~' && c != '\''; };
    if (name.size() <= kMostLetters && std::all_of(name.begin(), name.end(), is_printable)) continue;
    throw UsageError(fmt::format(
        "the column {} cannot be named so in a FITS table, whose names are of up to {} ASCII characters and "
        "no quotes; rename it, or choose .csv or .h5",
        show_text(name), kMostLetters));
  }
}

}  // namespace

TableFunctions fits_tables() {
  return {.check = check_fits_columns, .write = write_fits, .list_columns = list_fits_columns, .copy = copy_fits};
}

}  // namespace epsflow::io
