#include <epsflow/io/write/labelled_fits.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <mutex>

#include <fmt/format.h>

#include <epsflow/core/buffer.hpp>
#include <epsflow/core/checked.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/io/read/input_file.hpp>
#include <epsflow/io/write/fits_output.hpp>

namespace epsflow::io {
namespace {

constexpr std::size_t kMostColumns = 999;
constexpr std::size_t kBlockRows = std::size_t{1} << 16;

/// What stands for no label and no mask in a dropped row.
constexpr std::int32_t kNullLabel = std::numeric_limits<std::int32_t>::min();
constexpr std::int32_t kNullCore = 255;

/// A file of the input opened once more at its table.
class TableInput {
 public:
  TableInput(const std::filesystem::path& path, const ReadOptions& options, const InputRows& read)
      : file_(path, options),
        source_{.name = file_.shown, .options = options},
        fits_(library_file(*file_.bytes, source_), source_) {
    const std::vector<FitsTableEntry> tables = list_tables(get(), source_);
    open_table(get(), select_table(tables, source_), source_);
    require_table_bytes(get(), fits_.size(), source_);
    require_heap_bytes(get(), fits_.size(), source_);
    int status = 0;
    int type = 0;
    LONGLONG rows = 0;
    LONGLONG width = 0;
    fits_get_hdu_type(get(), &type, &status);
    fits_get_num_cols(get(), &columns_, &status);
    fits_get_num_rowsll(get(), &rows, &status);
    fits_read_key(get(), TLONGLONG, "NAXIS1", &width, nullptr, &status);
    check_fits(status, source_, "reading the size of the table");
    is_ascii_ = type == ASCII_TBL;
    rows_ = narrow<std::uint64_t>(rows, "rows");
    width_ = narrow<std::size_t>(width, "bytes of a row");
    if (rows_ == read.rows) return;
    throw InputError(fmt::format("{}: has changed since it was read: it has {}, not {}; run again", source_.name,
                                 format_count(rows_, "row"), format_count(read.rows)));
  }

  [[nodiscard]] fitsfile* get() const noexcept { return fits_.get(); }
  [[nodiscard]] const Source& source() const noexcept { return source_; }
  [[nodiscard]] int columns() const noexcept { return columns_; }
  [[nodiscard]] std::uint64_t rows() const noexcept { return rows_; }
  [[nodiscard]] std::size_t width() const noexcept { return width_; }
  [[nodiscard]] bool is_ascii() const noexcept { return is_ascii_; }

  /// The value of a column's keyword as it stands in the header; empty where there is none.
  [[nodiscard]] std::string keyword(const char* name, int column) const {
    std::array<char, FLEN_VALUE> value{};
    int status = 0;
    const FitsMessageMark mark;
    fits_read_keyword(get(), fmt::format("{}{}", name, column).c_str(), value.data(), nullptr, &status);
    return status == 0 ? value.data() : "";
  }

  [[nodiscard]] std::string name_of(int column) const {
    std::array<char, FLEN_VALUE> value{};
    int status = 0;
    const FitsMessageMark mark;
    fits_read_key(get(), TSTRING, fmt::format("TTYPE{}", column).c_str(), value.data(), nullptr, &status);
    return status == 0 ? value.data() : "";
  }

 private:
  InputFile file_;
  Source source_;
  FitsFile fits_;
  int columns_ = 0;
  std::uint64_t rows_ = 0;
  std::size_t width_ = 0;
  bool is_ascii_ = false;
};

/// Throws where the rows of `other` cannot stand behind those of `first` byte by byte.
void require_same_table(const TableInput& first, const TableInput& other) {
  const auto refuse = [&](const std::string& what) {
    throw InputError(
        fmt::format("{} and {} have tables that differ in {}, and all their columns are copied beside the labels; give "
                    "them the same columns, or choose another kind of file, which takes the coordinates alone",
                    first.source().name, other.source().name, what));
  };
  if (first.columns() != other.columns()) refuse("the number of columns");
  for (int column = 1; column <= first.columns(); ++column) {
    for (const char* name : {"TTYPE", "TFORM", "TUNIT", "TSCAL", "TZERO", "TNULL", "TBCOL", "TDIM"}) {
      if (first.keyword(name, column) != other.keyword(name, column)) refuse(fmt::format("{}{}", name, column));
    }
    if (!first.is_ascii() && first.keyword("TFORM", column).find_first_of("PQ") != std::string::npos) {
      throw InputError(fmt::format(
          "{}: column {} holds values of variable length, which cannot be copied from several files; choose "
          "another kind of file for the labels, which takes the coordinates alone",
          first.source().name, show_text(first.name_of(column))));
    }
  }
  if (first.is_ascii() != other.is_ascii() || first.width() != other.width()) refuse("the bytes of a row");
}

/// Puts the rows of a table behind the first `at` of the output.
void append_rows(const TableInput& input, const FitsOutput& out, std::uint64_t at) {
  const std::size_t most = std::max<std::size_t>(1, kLabelledBlockBytes / std::max<std::size_t>(1, input.width()));
  Buffer<unsigned char> block(checked_multiply(most, input.width(), "bytes of rows"));
  for (std::uint64_t row = 0; row < input.rows(); row += most) {
    const std::uint64_t count = std::min<std::uint64_t>(most, input.rows() - row);
    const auto bytes = narrow<LONGLONG>(count * input.width());
    int status = 0;
    fits_read_tblbytes(input.get(), narrow<LONGLONG>(row + 1), 1, bytes, block.data(), &status);
    check_fits(status, input.source(), fmt::format("reading the rows from {} on", row));
    fits_write_tblbytes(out.get(), narrow<LONGLONG>(at + row + 1), 1, bytes, block.data(), &status);
    out.check(status);
  }
}

/// A column of whole numbers.
struct NewColumn {
  const char* name;
  const char* form;   ///< TFORM
  std::int32_t null;  ///< stands in rows that are not points
};

/// Appends a column and fills it with value(point) for the rows that are points. first: the first input, which has the format of the output.
template <class Value>
void add_column(const FitsOutput& out, const TableInput& first, const NewColumn& added,
                const std::vector<InputRows>& inputs, Value value) {
  int status = 0;
  int columns = 0;
  fits_get_num_cols(out.get(), &columns, &status);
  const int column = columns + 1;
  std::string type = added.form;
  std::string title = added.name;
  fits_insert_col(out.get(), column, title.data(), type.data(), &status);
  const bool has_nulls =
      std::any_of(inputs.begin(), inputs.end(), [](const InputRows& input) { return !input.dropped.empty(); });
  if (has_nulls) {
    const std::string key = fmt::format("TNULL{}", column);
    std::string text = std::to_string(added.null);
    if (first.is_ascii()) {
      fits_update_key(out.get(), TSTRING, key.c_str(), text.data(), "not a point", &status);
    } else {
      std::int32_t null = added.null;
      fits_update_key(out.get(), TINT, key.c_str(), &null, "not a point", &status);
    }
  }
  out.check(status);
  RowWalker walker(inputs);
  std::vector<std::int32_t> block;
  LONGLONG written = 0;
  for (std::optional<RowWalker::Row> row = walker.next(); row;) {
    block.push_back(row->point ? value(*row->point) : added.null);
    row = walker.next();
    if (row && block.size() < kBlockRows) continue;
    const auto count = static_cast<LONGLONG>(block.size());
    fits_write_col(out.get(), TINT, column, written + 1, 1, count, block.data(), &status);
    out.check(status);
    written += count;
    block.clear();
  }
}

/// The keywords that other files of labels have may be the input's own.
void write_history(const FitsOutput& out, const Variant& variant, const Metric& metric) {
  const std::string text = fmt::format("labels of DBSCAN by epsflow: eps {}, minpts {}, metric {}", variant.eps,
                                       variant.minpts, describe_in_full(metric));
  int status = 0;
  fits_write_history(out.get(), text.c_str(), &status);
  out.check(status);
}

/// The checksums of the input are none of the output's.
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

/// Coordinates and labels as columns of a binary table.
struct ColumnSet {
  std::vector<std::string> names;
  std::vector<std::string> forms;

  void add(std::string name, std::string form) {
    names.push_back(std::move(name));
    forms.push_back(std::move(form));
  }

  void create(const FitsOutput& out, std::uint64_t rows) {
    std::vector<char*> name_pointers;
    std::vector<char*> form_pointers;
    for (std::string& name : names) name_pointers.push_back(name.data());
    for (std::string& form : forms) form_pointers.push_back(form.data());
    int status = 0;
    fits_create_tbl(out.get(), BINARY_TBL, narrow<LONGLONG>(rows), narrow<int>(names.size()), name_pointers.data(),
                    form_pointers.data(), nullptr, "LABELLED", &status);
    out.check(status);
  }
};

/// Writes value(i) for i in [first, first + count) into a column, counted from 1.
template <class T, class Value>
void write_block(const FitsOutput& out, int type, int column, std::size_t first, std::vector<T>& block, Value value) {
  for (std::size_t i = 0; i < block.size(); ++i) block[i] = value(first + i);
  int status = 0;
  fits_write_col(out.get(), type, column, narrow<LONGLONG>(first + 1), 1, narrow<LONGLONG>(block.size()), block.data(),
                 &status);
  out.check(status);
}

template <class T>
void write_coordinate_rows(const FitsOutput& out, std::span<const T> values, const LabelledRows& rows) {
  constexpr int kType = sizeof(T) == sizeof(float) ? TFLOAT : TDOUBLE;
  const std::size_t dims = rows.points.dims();
  int status = 0;
  long best = 0;
  fits_get_rowsize(out.get(), &best, &status);
  out.check(status);
  const auto most = static_cast<std::size_t>(std::max(best, 1L));
  RowWalker walker(rows.points.inputs);
  for (std::size_t first = 0; first < rows.points.size(); first += most) {
    const std::size_t count = std::min(most, rows.points.size() - first);
    int column = 0;
    if (rows.points.renumbered()) {
      std::vector<LONGLONG> numbers(count);
      write_block(out, TLONGLONG, ++column, first, numbers,
                  [&](std::size_t) { return narrow<LONGLONG>(walker.next_point()->number); });
    }
    std::vector<T> coordinates(count);
    for (std::size_t k = 0; k < dims; ++k) {
      write_block(out, kType, ++column, first, coordinates, [&](std::size_t i) { return values[i * dims + k]; });
    }
    std::vector<std::int32_t> labels(count);
    write_block(out, TINT, ++column, first, labels, [&](std::size_t i) { return rows.result.labels[i]; });
    if (rows.core) write_block(out, TINT, ++column, first, labels, [&](std::size_t i) { return rows.result.core[i]; });
  }
}

/// Keywords of the header that is open which say something of their own: none that describe the data, and no comments.
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

std::string fits_left_out(std::span<const std::filesystem::path> files, const ReadOptions& options,
                          const FilePoints& points) {
  const std::scoped_lock lock(fits_mutex());
  std::uint64_t units = 0;
  std::uint64_t keywords = 0;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const TableInput input(files[i], options, points.inputs[i]);
    int count = 0;
    int status = 0;
    fits_get_num_hdus(input.get(), &count, &status);
    fits_movabs_hdu(input.get(), 1, nullptr, &status);
    keywords += own_keywords(input.get(), status);
    check_fits(status, input.source(), "reading the primary header");
    units += narrow<std::uint64_t>(count - 2, "header units");
  }
  std::string text;
  if (keywords > 0) text = format_count(keywords, "keyword") + " of the primary header";
  if (units > 0) text += (text.empty() ? "" : ", ") + format_count(units, "header unit") + " beside the table";
  return text;
}

std::vector<std::string> fits_column_names(std::span<const std::filesystem::path> files, const ReadOptions& options,
                                           const FilePoints& points) {
  const std::scoped_lock lock(fits_mutex());
  const TableInput first(files[0], options, points.inputs[0]);
  for (std::size_t i = 1; i < files.size(); ++i) {
    require_same_table(first, TableInput(files[i], options, points.inputs[i]));
  }
  std::vector<std::string> names;
  for (int column = 1; column <= first.columns(); ++column) names.push_back(first.name_of(column));
  constexpr std::size_t kLabels = 2;
  if (names.size() + kLabels <= kMostColumns) return names;
  throw InputError(fmt::format(
      "{}: has {}, and FITS tables at most {}, so that there is no room for the labels; choose another kind "
      "of file, which takes the coordinates alone",
      first.source().name, format_count(names.size(), "column"), kMostColumns));
}

void write_fits_copy(const std::filesystem::path& file, const std::filesystem::path& target,
                     std::span<const std::filesystem::path> inputs, const ReadOptions& options,
                     const LabelledRows& rows) {
  const std::scoped_lock lock(fits_mutex());
  const std::vector<InputRows>& read = rows.points.inputs;
  const TableInput first(inputs[0], options, read[0]);
  std::uint64_t bytes = 0;
  for (const InputRows& input : read) bytes += input.rows * (first.width() + sizeof(std::int32_t));
  FitsOutput out(file, target, bytes);
  int status = 0;
  fits_copy_hdu(first.get(), out.get(), 0, &status);
  if (!FitsOutput::is_of_system(status)) check_fits(status, first.source(), "copying the table");
  out.check(status);
  std::uint64_t others = 0;
  for (std::size_t i = 1; i < inputs.size(); ++i) others += read[i].rows;
  if (others > 0) fits_insert_rows(out.get(), narrow<LONGLONG>(read[0].rows), narrow<LONGLONG>(others), &status);
  out.check(status);
  std::uint64_t at = read[0].rows;
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    const TableInput input(inputs[i], options, read[i]);
    require_same_table(first, input);
    append_rows(input, out, at);
    at += read[i].rows;
  }
  add_column(out, first, {kLabelColumn, first.is_ascii() ? "I11" : "1J", kNullLabel}, read,
             [&](std::size_t point) { return rows.result.labels[point]; });
  if (rows.core) {
    add_column(out, first, {kCoreColumn, first.is_ascii() ? "I3" : "1B", kNullCore}, read,
               [&](std::size_t point) { return std::int32_t{rows.result.core[point]}; });
  }
  write_history(out, rows.result.variant, rows.metric);
  renew_checksums(out);
  out.close();
}

void require_fits_names(std::span<const std::string> names) {
  constexpr std::size_t kMostLetters = 68;
  constexpr std::size_t kOthers = 3;  // row, label, core
  if (names.size() + kOthers > kMostColumns) {
    throw UsageError(fmt::format("{} are more than a FITS table holds; choose .csv for the labels and coordinates",
                                 format_count(names.size(), "coordinate")));
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

void write_fits_coordinates(const std::filesystem::path& file, const std::filesystem::path& target,
                            std::span<const std::string> names, const LabelledRows& rows) {
  const std::scoped_lock lock(fits_mutex());
  FitsOutput out(file, target, rows.points.view().bytes() + rows.points.size() * sizeof(std::int32_t));
  ColumnSet columns;
  if (rows.points.renumbered()) columns.add(kRowColumn, "1K");
  for (const std::string& name : names) {
    columns.add(name, rows.points.precision() == Precision::float32 ? "1E" : "1D");
  }
  columns.add(kLabelColumn, "1J");
  if (rows.core) columns.add(kCoreColumn, "1B");
  columns.create(out, rows.points.size());
  out.write_variant(rows.result.variant, rows.metric);
  rows.points.view().visit([&](auto values) { write_coordinate_rows(out, values, rows); });
  out.close();
}

}  // namespace epsflow::io
