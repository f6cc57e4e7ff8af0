#include <epsflow/io/write/labelled_csv.hpp>

#include <algorithm>
#include <cstdint>
#include <string_view>

#include <fmt/format.h>

#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/io/read/input_file.hpp>
#include <epsflow/io/read/source.hpp>
#include <epsflow/io/read/text/text_opening.hpp>
#include <epsflow/io/write/atomic_file.hpp>
#include <epsflow/io/write/csv_writer.hpp>

namespace epsflow::io {
namespace {

[[noreturn]] void throw_changed(const std::string& name, const std::string& what) {
  throw InputError(fmt::format("{}: has changed since it was read: {}; run again", name, what));
}

/// File number i opened once more.
struct TextInput {
  TextInput(std::span<const std::filesystem::path> files, std::size_t i, const ReadOptions& options,
            const FilePoints& points)
      : file(files[i], options), source{.name = file.shown, .options = options}, text(*file.bytes, source) {
    // The numbers are those of the first file: in another the names may stand elsewhere. A metric may have put them in its order.
    const std::span<const std::size_t> columns = text.table.selected;
    const auto coordinates = columns.first(columns.size() - (options.weight.empty() ? 0 : 1));
    const bool same_columns = i > 0 || std::ranges::is_permutation(coordinates, points.column_numbers);
    if (points.inputs[i].kind.starts_with(text.table.kind) && same_columns) return;
    throw_changed(source.name, "it is " + text.table.kind);
  }

  InputFile file;
  Source source;
  OpenText text;
};

/// The fields of one row as they are written.
class FieldScanner {
 public:
  explicit FieldScanner(const RowShape& shape) : shape_(shape) {}

  /// Scans the row at p and returns the line behind it, or null where a quote is open at the end of the text.
  const char* scan(const char* p, const char* end) {
    const char delimiter = shape_.dialect.delimiter;
    const bool is_padded = delimiter == '|' || delimiter == kBlanks;  // blanks there are for the eye
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

  template <class Writer>
  void write(Writer& csv) const {
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
  std::vector<Scanned> fields_;  ///< count_ of them; the others keep their memory
  std::size_t count_ = 0;
  std::string scratch_;
};

template <class Writer>
void write_header(Writer& csv, std::span<const std::string> names, const LabelledRows& rows) {
  for (const std::string& name : names) csv.text(name);
  csv.text(kLabelColumn);
  if (rows.core) csv.text(kCoreColumn);
  csv.end_row();
}

template <class Writer>
void write_label(Writer& csv, const std::optional<std::size_t>& point, const LabelledRows& rows) {
  if (point) {
    csv.number(rows.result.labels[*point]);
    if (rows.core) csv.number(static_cast<int>(rows.result.core[*point]));
  } else {
    csv.nothing();
    if (rows.core) csv.nothing();
  }
  csv.end_row();
}

/// Copies the rows of one file.
class RowCopier {
 public:
  RowCopier(TextInput& input, const InputRows& read, const LabelledRows& rows, RowWalker& walker)
      : input_(input), read_(read), rows_(rows), walker_(walker), scanner_(input.text.table.shape) {}

  template <class Writer>
  void copy(Writer& csv) {
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
  /// Returns the bytes of whole rows: all, but for a row at their end whose quote is still open.
  template <class Writer>
  std::size_t copy_lines(std::span<const char> lines, Writer& csv) {
    const char* p = lines.data();
    const char* const end = p + lines.size();
    while (p != end) {
      if (skip_line(p, end, input_.text.table.shape.dialect)) continue;
      const char* const next = scanner_.scan(p, end);
      if (next == nullptr) break;
      if (done_ == read_.rows || !scanner_.fits()) throw_other_rows();
      scanner_.write(csv);
      write_label(csv, walker_.next()->point, rows_);
      ++done_;
      p = next;
    }
    return static_cast<std::size_t>(p - lines.data());
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
  const LabelledRows& rows_;
  RowWalker& walker_;
  FieldScanner scanner_;
  std::uint64_t done_ = 0;
};

}  // namespace

std::vector<std::string> text_column_names(std::span<const std::filesystem::path> files, const ReadOptions& options,
                                           const FilePoints& points) {
  std::vector<std::string> names;
  std::size_t named = 0;  // the file that the names are from
  std::size_t count = 0;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const TextInput input(files, i, options, points);
    const ColumnList& columns = input.text.table.columns;
    if (i == 0) count = columns.count;
    if (names.empty()) {
      names = columns.names;
      named = i;
    }
    if (columns.count == count && (columns.names.empty() || columns.names == names)) continue;
    throw InputError(fmt::format(
        "{} and {} have different columns, all of which are copied beside the labels; give them the same, or "
        "choose another kind of file, which takes the coordinates alone",
        display_name(files[named]), display_name(files[i])));
  }
  for (std::size_t i = names.size(); i < count; ++i) names.push_back(fmt::format("x{}", i));
  return names;
}

std::string text_left_out(std::span<const std::filesystem::path> files, const ReadOptions& options,
                          const FilePoints& points) {
  std::uint64_t lines = 0;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const TextInput input(files, i, options, points);
    lines += input.text.table.lines_before - (input.text.table.columns.names.empty() ? 0 : 1);
  }
  return lines > 0 ? format_count(lines, "line") + " before the rows, as comments and units" : "";
}

void write_csv_copy(const std::filesystem::path& file, const std::filesystem::path& target,
                    std::span<const std::filesystem::path> inputs, const ReadOptions& options,
                    std::span<const std::string> names, const LabelledRows& rows) {
  FileStream out(file, target);
  CsvWriter csv(out, options.text.decimal == ',' ? ';' : ',');
  write_header(csv, names, rows);
  RowWalker walker(rows.points.inputs);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    TextInput input(inputs, i, options, rows.points);
    RowCopier(input, rows.points.inputs[i], rows, walker).copy(csv);
  }
  csv.flush();
  out.close();
}

void write_csv_coordinates(const std::filesystem::path& file, const std::filesystem::path& target,
                           std::span<const std::string> names, const LabelledRows& rows) {
  FileStream out(file, target);
  CsvWriter csv(out);
  const bool numbered = rows.points.renumbered();
  if (numbered) csv.text(kRowColumn);
  write_header(csv, names, rows);
  const std::size_t dims = rows.points.dims();
  rows.points.view().visit([&](auto values) {
    RowWalker walker(rows.points.inputs);
    while (const auto row = walker.next_point()) {
      if (numbered) csv.number(row->number);
      for (std::size_t k = 0; k < dims; ++k) csv.number(values[*row->point * dims + k]);
      write_label(csv, row->point, rows);
    }
  });
  csv.flush();
  out.close();
}

}  // namespace epsflow::io
