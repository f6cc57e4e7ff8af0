#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <mutex>
#include <type_traits>

#include <fmt/format.h>

#include <epsflow/core/buffer.hpp>
#include <epsflow/core/checked.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/io/read/format.hpp>
#include <epsflow/io/row_numbers.hpp>
#include <epsflow/io/write/fits_output.hpp>

namespace epsflow::io {
namespace {

constexpr std::size_t kBlockRows = std::size_t{1} << 16;

/// Null values of the labels and of the mask, in dropped rows.
constexpr std::int32_t kNullLabel = std::numeric_limits<std::int32_t>::min();
constexpr std::int32_t kNullCore = 255;

/// An input file, opened again at its table.
struct FitsInput {
  FitsInput(const CopySource& inputs, std::size_t i)
      : file(inputs.files[i], inputs.options),
        source{.name = file.shown, .options = inputs.options},
        fits(library_file(*file.bytes, source), source) {
    const std::vector<FitsTableEntry> tables = list_tables(get(), source);
    open_table(get(), select_table(tables, source), source);
    require_table_bytes(get(), fits.size(), source);
    require_heap_bytes(get(), fits.size(), source);
    int status = 0;
    int type = 0;
    LONGLONG row_count = 0;
    LONGLONG row_bytes = 0;
    fits_get_hdu_type(get(), &type, &status);
    fits_get_num_cols(get(), &columns, &status);
    fits_get_num_rowsll(get(), &row_count, &status);
    fits_read_key(get(), TLONGLONG, "NAXIS1", &row_bytes, nullptr, &status);
    check_fits(status, source, "reading the size of the table");
    is_ascii = type == ASCII_TBL;
    rows = narrow<std::uint64_t>(row_count, "rows");
    width = narrow<std::size_t>(row_bytes, "bytes of a row");
    const std::uint64_t read = inputs.points.inputs[i].rows;
    if (rows == read) return;
    throw InputError(fmt::format("{}: has changed since it was read: it has {}, not {}; run again", source.name,
                                 format_count(rows, "row"), format_count(read)));
  }

  [[nodiscard]] fitsfile* get() const noexcept { return fits.get(); }

  /// Returns the value of a column's keyword; empty if there is none.
  [[nodiscard]] std::string keyword(const char* name, int column) const {
    std::array<char, FLEN_VALUE> value{};
    int status = 0;
    const FitsMessageMark mark;
    fits_read_keyword(get(), fmt::format("{}{}", name, column).c_str(), value.data(), nullptr, &status);
    return status == 0 ? value.data() : "";
  }

  [[nodiscard]] std::string name_of(int column) const {
    return read_fits_text(get(), fmt::format("TTYPE{}", column)).value_or("");
  }

  InputFile file;
  Source source;
  FitsFile fits;
  int columns = 0;
  std::uint64_t rows = 0;
  std::size_t width = 0;
  bool is_ascii = false;
};

/// Throws InputError if the rows of `other` cannot be appended to `first` byte by byte.
void require_same_table(const FitsInput& first, const FitsInput& other) {
  const auto refuse = [&](const std::string& what) {
    throw InputError(
        fmt::format("{} and {} have tables that differ in {}, and all their columns are copied beside the labels; give "
                    "them the same columns, or choose another kind of file, which takes the coordinates alone",
                    first.source.name, other.source.name, what));
  };
  if (first.columns != other.columns) refuse("the number of columns");
  for (int column = 1; column <= first.columns; ++column) {
    for (const char* name : {"TTYPE", "TFORM", "TUNIT", "TSCAL", "TZERO", "TNULL", "TBCOL", "TDIM"}) {
      if (first.keyword(name, column) != other.keyword(name, column)) refuse(fmt::format("{}{}", name, column));
    }
    if (!first.is_ascii && first.keyword("TFORM", column).find_first_of("PQ") != std::string::npos) {
      throw InputError(fmt::format(
          "{}: column {} holds values of variable length, which cannot be copied from several files; choose "
          "another kind of file for the labels, which takes the coordinates alone",
          first.source.name, show_text(first.name_of(column))));
    }
  }
  if (first.is_ascii != other.is_ascii || first.width != other.width) refuse("the bytes of a row");
}

/// Writes the rows of a table after the first `at` rows of the output.
void append_rows(const FitsInput& input, const FitsOutput& out, std::uint64_t at) {
  const std::size_t most = std::max<std::size_t>(1, kOutputBlockBytes / std::max<std::size_t>(1, input.width));
  Buffer<unsigned char> block(checked_multiply(most, input.width, "bytes of rows"));
  for (std::uint64_t row = 0; row < input.rows; row += most) {
    const std::uint64_t count = std::min<std::uint64_t>(most, input.rows - row);
    const auto bytes = narrow<LONGLONG>(count * input.width);
    int status = 0;
    fits_read_tblbytes(input.get(), narrow<LONGLONG>(row + 1), 1, bytes, block.data(), &status);
    check_fits(status, input.source, fmt::format("reading the rows from {} on", row));
    fits_write_tblbytes(out.get(), narrow<LONGLONG>(at + row + 1), 1, bytes, block.data(), &status);
    out.check(status);
  }
}

template <class Number>
struct NewColumn {
  std::string name;
  const char* form;  ///< TFORM
  Number null;       ///< value in rows that are not points; whole numbers are declared as null values
};

/// Appends a column and fills it in the rows that are points.
template <class Number, class T>
void add_column(const FitsOutput& out, bool is_ascii, const NewColumn<Number>& added, const FilePoints& points,
                const ColumnView<T>& values) {
  constexpr bool kWhole = std::is_integral_v<Number>;
  int status = 0;
  int columns = 0;
  fits_get_num_cols(out.get(), &columns, &status);
  const int column = columns + 1;
  fits_insert_col(out.get(), column, std::string(added.name).data(), std::string(added.form).data(), &status);
  if (kWhole && points.dropped_rows() > 0) {
    const std::string key = fmt::format("TNULL{}", column);
    const std::string text = std::to_string(added.null);
    if (is_ascii) {
      fits_update_key_str(out.get(), key.c_str(), text.c_str(), "not a point", &status);
    } else {
      fits_update_key_lng(out.get(), key.c_str(), static_cast<LONGLONG>(added.null), "not a point", &status);
    }
  }
  out.check(status);
  RowWalker walker(points.inputs);
  const std::uint64_t rows = points.size() + points.dropped_rows();
  std::vector<Number> block;
  for (std::uint64_t first = 0; first < rows; first += kBlockRows) {
    block.resize(std::min<std::uint64_t>(kBlockRows, rows - first));
    for (Number& number : block) {
      const std::size_t point = walker.next();
      number = point == RowWalker::kDropped ? added.null : Number{values[point]};
    }
    fits_write_col(out.get(), kWhole ? TINT : TDOUBLE, column, narrow<LONGLONG>(first + 1), 1,
                   narrow<LONGLONG>(block.size()), block.data(), &status);
    out.check(status);
  }
}

/// Writes the variant as HISTORY: the input may have keywords EPS and MINPTS of its own.
void write_history(const FitsOutput& out, const Variant& variant, const Metric& metric) {
  const std::uint32_t size = variant.min_cluster_size;
  const std::string by = size > 0 ? fmt::format("HDBSCAN* by epsflow: min_cluster_size {}", size)
                                  : fmt::format("DBSCAN by epsflow: eps {}", variant.eps);
  const std::string text =
      fmt::format("labels of {}, minpts {}, metric {}", by, variant.minpts, describe_in_full(metric));
  int status = 0;
  fits_write_history(out.get(), text.c_str(), &status);
  out.check(status);
}

/// Updates the checksums that the header has from the input, if there are any.
void renew_checksums(const FitsOutput& out) {
  std::array<char, FLEN_CARD> card{};
  int status = 0;
  {
    const FitsMessageMark mark;
    fits_read_card(out.get(), "DATASUM", card.data(), &status);
  }
  if (status != 0) return;
  fits_write_chksum(out.get(), &status);
  out.check(status);
}

/// Counts the keywords of the open header, without comments, checksums and keywords that describe the data.
std::uint64_t own_keywords(fitsfile* file, int& status) {
  int cards = 0;
  fits_get_hdrspace(file, &cards, nullptr, &status);
  std::uint64_t count = 0;
  for (int i = 1; i <= cards && status == 0; ++i) {
    std::array<char, FLEN_CARD> card{};
    fits_read_record(file, i, card.data(), &status);
    const int kind = fits_get_keyclass(card.data());
    if (kind != TYP_STRUC_KEY && kind != TYP_COMM_KEY && kind != TYP_CKSUM_KEY) ++count;
  }
  return count;
}

}  // namespace

SourceColumns list_fits_columns(const CopySource& source) {
  const std::scoped_lock lock(fits_mutex());
  const FitsInput first(source, 0);
  SourceColumns found;
  for (int column = 1; column <= first.columns; ++column) found.names.push_back(first.name_of(column));
  std::uint64_t units = 0;
  std::uint64_t keywords = 0;
  for (std::size_t i = 0; i < source.files.size(); ++i) {
    const FitsInput input(source, i);
    if (i > 0) require_same_table(first, input);
    int count = 0;
    int status = 0;
    fits_get_num_hdus(input.get(), &count, &status);
    fits_movabs_hdu(input.get(), 1, nullptr, &status);
    keywords += own_keywords(input.get(), status);
    check_fits(status, input.source, "reading the primary header");
    units += narrow<std::uint64_t>(count - 2, "header units");
  }
  constexpr std::size_t kLabels = 2;
  if (found.names.size() + kLabels > kMostFitsColumns) {
    throw InputError(fmt::format(
        "{}: has {}, and FITS tables at most {}, so that there is no room for the labels; choose another kind "
        "of file, which takes the coordinates alone",
        first.source.name, format_count(found.names.size(), "column"), kMostFitsColumns));
  }
  std::string& text = found.left_out;
  if (keywords > 0) text = format_count(keywords, "keyword") + " of the primary header";
  if (units > 0) text += (text.empty() ? "" : ", ") + format_count(units, "header unit") + " beside the table";
  return found;
}

void copy_fits(const std::filesystem::path& file, const std::filesystem::path& target, const CopySource& source,
               std::span<const std::string>, const OutputTable& added) {
  const std::scoped_lock lock(fits_mutex());
  const FitsInput first(source, 0);
  const std::uint64_t rows = source.points.size() + source.points.dropped_rows();
  FitsOutput out(file, target, rows * (first.width + sizeof(std::int32_t)));
  int status = 0;
  fits_copy_hdu(first.get(), out.get(), 0, &status);
  if (!FitsOutput::is_of_system(status)) check_fits(status, first.source, "copying the table");
  out.check(status);
  std::uint64_t at = first.rows;
  if (rows > at) fits_insert_rows(out.get(), narrow<LONGLONG>(at), narrow<LONGLONG>(rows - at), &status);
  out.check(status);
  for (std::size_t i = 1; i < source.files.size(); ++i) {
    const FitsInput input(source, i);
    require_same_table(first, input);
    append_rows(input, out, at);
    at += input.rows;
  }
  const bool is_ascii = first.is_ascii;
  for (const OutputColumn& column : added.columns) {
    std::visit(
        [&]<class T>(const ColumnView<T>& values) {
          const std::string& name = column.name;
          if constexpr (std::is_same_v<T, std::int32_t>) {
            add_column<T>(out, is_ascii, {name, is_ascii ? "I11" : "1J", kNullLabel}, source.points, values);
          } else if constexpr (std::is_same_v<T, std::uint8_t>) {
            add_column<std::int32_t>(out, is_ascii, {name, is_ascii ? "I3" : "1B", kNullCore}, source.points, values);
          } else if constexpr (std::is_same_v<T, double>) {
            // Text cannot hold NaN.
            const double none = is_ascii ? 0 : std::numeric_limits<double>::quiet_NaN();
            add_column<T>(out, is_ascii, {name, is_ascii ? "D25.17" : "1D", none}, source.points, values);
          }
        },
        column.values);
  }
  write_history(out, added.origin.result.variant, added.origin.metric);
  renew_checksums(out);
  out.close();
}

}  // namespace epsflow::io
