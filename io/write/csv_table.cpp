#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include <fmt/format.h>

#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/io/read/format.hpp>
#include <epsflow/io/read/source.hpp>
#include <epsflow/io/read/text/text_reader.hpp>
#include <epsflow/io/row_numbers.hpp>
#include <epsflow/io/write/atomic_file.hpp>
#include <epsflow/io/write/csv_writer.hpp>
#include <epsflow/io/write/output_table.hpp>

namespace epsflow::io {
namespace {

/// Writes a value of a column. NaN is an empty field. marks_zero: writes -0 for 0.
void write_value(CsvWriter<FileStream>& csv, const OutputColumn& column, std::size_t row, bool marks_zero = false) {
  std::visit(
      [&]<class T>(const ColumnView<T>& values) {
        if constexpr (std::is_same_v<T, std::string>) {
          csv.text(values[row]);
        } else if (std::isnan(static_cast<double>(values[row]))) {
          csv.nothing();
        } else if (marks_zero && values[row] == 0) {
          csv.text("-0");
        } else {
          csv.number(values[row]);
        }
      },
      column.values);
}

void write_csv(const std::filesystem::path& file, const std::filesystem::path& target, const OutputTable& table) {
  FileStream out(file, target);
  CsvWriter csv(out);
  for (const OutputColumn& column : table.columns) csv.text(column.name);
  csv.end_row();
  const bool marks_zero = table.numbers == LabelNumbers::group;
  for (std::size_t row = 0; row < table.rows; ++row) {
    for (const OutputColumn& column : table.columns) write_value(csv, column, row, marks_zero);
    csv.end_row();
  }
  csv.flush();
  out.close();
}

[[noreturn]] void throw_changed(const std::string& name, const std::string& what) {
  throw InputError(fmt::format("{}: has changed since it was read: {}; run again", name, what));
}

/// Input file number i, opened again.
struct TextInput {
  TextInput(const CopySource& inputs, std::size_t i)
      : file(inputs.files[i], inputs.options),
        source{.name = file.shown, .options = inputs.options},
        text(*file.bytes, source) {
    // The column numbers are from the first file; others may differ. A metric may have reordered the coordinates.
    const std::span<const ElementChoice> columns = text.table.chosen;
    const auto coordinates = columns.first(columns.size() - (source.options.weight.empty() ? 0 : 1));
    const bool same_columns =
        i > 0 || std::ranges::is_permutation(coordinates, inputs.points.column_numbers, {}, &ElementChoice::column);
    if (inputs.points.inputs[i].kind.starts_with(text.table.kind) && same_columns) return;
    throw_changed(source.name, "it is " + text.table.kind);
  }

  InputFile file;
  Source source;
  OpenText text;
};

/// The fields of one row, as they are written.
class FieldScanner {
 public:
  explicit FieldScanner(const RowShape& shape) : shape_(shape) {}

  /// Scans the row at p and returns the start of the next line, or null if a quote is open at the end of the text.
  const char* scan(const char* p, const char* end) {
    const char delimiter = shape_.dialect.delimiter;
    const bool is_padded = delimiter == '|' || delimiter == kBlanks;  // the blanks are only padding
    count_ = 0;
    for (;;) {
      const Field field = scan_field(p, end, delimiter, scratch_);
      if (field.open_quote) return nullptr;
      const char* const first = skip_blanks(p, end, delimiter);
      const bool quoted = first != end && *first == '"';
      add(quoted || is_padded ? field.text : raw_text(p, field.end, end), quoted);
      p = field.end;
      if (delimiter == kBlanks) p = skip_blanks(p, end, delimiter);
      if (at_line_end(p, end)) return behind_line_end(p, end);
      if (delimiter != kBlanks) ++p;
    }
  }

  [[nodiscard]] bool fits() const noexcept { return count_ == shape_.slots.size(); }

  void write(CsvWriter<FileStream>& csv) const {
    for (std::size_t i = 0; i < count_; ++i) {
      if (shape_.slots[i] != kBar) csv.text(fields_[i].text, fields_[i].quoted);
    }
  }

 private:
  struct Scanned {
    std::string text;
    bool quoted = false;
  };

  static std::string_view raw_text(const char* begin, const char* stop, const char* end) noexcept {
    if (stop != begin && stop[-1] == '\r' && at_line_end(stop, end)) --stop;
    return {begin, static_cast<std::size_t>(stop - begin)};
  }

  void add(std::string_view text, bool quoted) {
    if (count_ == fields_.size()) fields_.emplace_back();
    fields_[count_].text.assign(text);
    fields_[count_].quoted = quoted;
    ++count_;
  }

  const RowShape& shape_;
  std::vector<Scanned> fields_;  ///< the first count_ are valid; the others keep their memory
  std::size_t count_ = 0;
  std::string scratch_;
};

/// Copies the rows of one file.
class RowCopier {
 public:
  RowCopier(TextInput& input, const InputRows& read, const std::vector<OutputColumn>& added, RowWalker& walker)
      : input_(input), read_(read), added_(added), walker_(walker), scanner_(input.text.table.shape) {}

  void copy(CsvWriter<FileStream>& csv) {
    TextBlocks& blocks = input_.text.blocks;
    for (;;) {
      const std::span<const char> lines = blocks.whole_lines();
      blocks.use(copy_lines(lines, csv));
      if (blocks.is_last()) break;
      if (!blocks.read_on()) throw_long_row(blocks.text().size());
    }
    if (done_ != read_.rows || !blocks.text().empty()) throw_other_rows();
  }

 private:
  /// Copies whole rows and returns their bytes. A last row with an open quote is not copied.
  std::size_t copy_lines(std::span<const char> lines, CsvWriter<FileStream>& csv) {
    const char* p = lines.data();
    const char* const end = p + lines.size();
    while (p != end) {
      if (skip_line(p, end, input_.text.table.shape.dialect)) continue;
      const char* const next = scanner_.scan(p, end);
      if (next == nullptr) break;
      if (done_ == read_.rows || !scanner_.fits()) throw_other_rows();
      scanner_.write(csv);
      write_added(csv, walker_.next());
      ++done_;
      p = next;
    }
    return static_cast<std::size_t>(p - lines.data());
  }

  void write_added(CsvWriter<FileStream>& csv, std::size_t point) const {
    for (const OutputColumn& column : added_) {
      point == RowWalker::kDropped ? csv.nothing() : write_value(csv, column, point);
    }
    csv.end_row();
  }

  [[noreturn]] void throw_long_row(std::uint64_t bytes) const {
    throw ResourceError(fmt::format(
        "{}: row {} is longer than the {} that are taken for copying rows; choose another kind of file for the "
        "labels, which takes the coordinates alone",
        input_.source.name, done_, format_bytes(bytes)));
  }

  [[noreturn]] void throw_other_rows() const {
    throw_changed(input_.source.name, "its rows are not the " + format_count(read_.rows) + " that it had");
  }

  TextInput& input_;
  const InputRows& read_;
  const std::vector<OutputColumn>& added_;
  RowWalker& walker_;
  FieldScanner scanner_;
  std::uint64_t done_ = 0;
};

SourceColumns list_text_columns(const CopySource& inputs) {
  SourceColumns found;
  std::size_t named = 0;  // number of the file with names
  std::size_t count = 0;
  std::uint64_t lines = 0;
  for (std::size_t i = 0; i < inputs.files.size(); ++i) {
    const TextInput input(inputs, i);
    const TextTable& table = input.text.table;
    const ColumnList& columns = table.columns;
    lines += table.lines_before - (columns.names.empty() ? 0 : 1);
    if (i == 0) count = columns.count;
    if (found.names.empty()) {
      found.names = columns.names;
      named = i;
    }
    if (columns.count == count && (columns.names.empty() || columns.names == found.names)) continue;
    throw InputError(fmt::format(
        "{} and {} have different columns, all of which are copied beside the labels; give them the same, or "
        "choose another kind of file, which takes the coordinates alone",
        display_name(inputs.files[named]), display_name(inputs.files[i])));
  }
  for (std::size_t i = found.names.size(); i < count; ++i) found.names.push_back(fmt::format("x{}", i));
  if (lines > 0) found.left_out = format_count(lines, "line") + " before the rows, as comments and units";
  return found;
}

void copy_text(const std::filesystem::path& file, const std::filesystem::path& target, const CopySource& inputs,
               std::span<const std::string> names, const OutputTable& added) {
  FileStream out(file, target);
  CsvWriter csv(out, inputs.options.text.decimal == ',' ? ';' : ',');
  for (const std::string& name : names) csv.text(name);
  for (const OutputColumn& column : added.columns) csv.text(column.name);
  csv.end_row();
  RowWalker walker(inputs.points.inputs);
  for (std::size_t i = 0; i < inputs.files.size(); ++i) {
    TextInput input(inputs, i);
    RowCopier(input, inputs.points.inputs[i], added.columns, walker).copy(csv);
  }
  csv.flush();
  out.close();
}

}  // namespace

TableFunctions csv_tables() {
  return {.check = [](std::span<const std::string>, std::size_t, std::string_view) {},
          .write = write_csv,
          .list_columns = list_text_columns,
          .copy = copy_text};
}

}  // namespace epsflow::io
