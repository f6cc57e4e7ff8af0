#include <epsflow/io/read/text/text_reader.hpp>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <epsflow/core/buffer.hpp>
#include <epsflow/core/checked.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/core/parallel.hpp>

namespace epsflow::io {
namespace {

/// A task has at least this much text.
constexpr std::size_t kChunkBytes = std::size_t{1} << 20;

/// Throws ResourceError for a text whose line is longer than the block in memory.
[[noreturn]] void throw_long_line(const TextBlocks& blocks, const Source& source, std::uint64_t lines_before) {
  throw source.error<ResourceError>(
      "line {} is longer than the {} that are taken for reading lines; raise ReadOptions::memory, or close a quote "
      "that is open there",
      lines_before + 1, format_bytes(blocks.text().size()));
}

/// Throws UsageError for invalid options, such as the same character for two purposes.
void check_options(const TextLayout& options) {
  const auto is_taken = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '+' || c == '-' ||
           c == '"' || c == '\n' || c == '\r';
  };
  if (is_taken(options.delimiter)) {
    throw UsageError(
        fmt::format("ReadOptions::text.delimiter is {}, which numbers, quotes or line ends are made of; "
                    "choose another character",
                    show_text({&options.delimiter, 1})));
  }
  if (is_taken(options.decimal) || options.decimal == '\0' || is_blank(options.decimal, kBlanks)) {
    throw UsageError(fmt::format("ReadOptions::text.decimal is {}, which cannot part a fraction; choose '.' or ','",
                                 show_text({&options.decimal, 1})));
  }
  if (options.delimiter == options.decimal) {
    throw UsageError(
        fmt::format("ReadOptions::text.delimiter and ReadOptions::text.decimal are both {}; choose "
                    "different characters",
                    show_text({&options.decimal, 1})));
  }
}

/// Returns the block size. Two blocks are in memory at a time. If the size of the text is unknown, so are the points of
/// one block in a buffer of their own, which takes up to four times its bytes.
std::uint64_t checked_block_bytes(const Source& source) {
  check_options(source.options.text);
  constexpr std::uint64_t kSmallestBlock = std::uint64_t{64} << 10;
  constexpr std::uint64_t kLargestBlock = std::uint64_t{16} << 20;
  constexpr std::uint64_t kShareOfMemory = 32;
  return std::clamp(memory_left(source) / kShareOfMemory, kSmallestBlock, kLargestBlock);
}

void skip_byte_order_mark(TextBlocks& blocks, const Source& source) {
  const std::string_view text(blocks.text().data(), blocks.text().size());
  if (text.starts_with("\xEF\xBB\xBF")) blocks.use(3);
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) {
    throw source.error("the text is UTF-16; convert it to UTF-8, as iconv -f UTF-16 -t UTF-8 does");
  }
}

/// Skips the lines that the options name, and returns their number.
std::uint64_t skip_first_lines(TextBlocks& blocks, const Source& source) {
  const std::uint64_t wanted = source.options.text.skip_rows;
  for (std::uint64_t lines = 0; lines < wanted;) {
    const std::span<const char> text = blocks.text();
    const char* const end = text.data() + text.size();
    const char* const newline = find_newline(text.data(), end);
    if (newline != end) {
      blocks.use(static_cast<std::size_t>(newline - text.data()) + 1);
      ++lines;
    } else if (blocks.is_last()) {
      throw source.error("ReadOptions::text.skip_rows is {}, but there are only {} lines", wanted,
                         lines + (text.empty() ? 0 : 1));
    } else {
      blocks.use(text.size());
      (void)blocks.read_on();
    }
  }
  return wanted;
}

/// Finds the table, however many blocks of comments precede it.
TextTable find_table_in(TextBlocks& blocks, const Source& source, std::uint64_t& lines_before) {
  for (;;) {
    const std::span<const char> lines = blocks.whole_lines();
    if (lines.empty() && !blocks.is_last()) throw_long_line(blocks, source, lines_before);
    if (std::optional<TextTable> table = find_table(lines, blocks.is_last(), lines_before, source)) {
      blocks.use(static_cast<std::size_t>(table->data - lines.data()));
      return std::move(*table);
    }
    if (blocks.is_last()) {
      throw source.error("empty: there is nothing but blank lines and comments; rows of numbers are needed");
    }
    lines_before += count_newlines(lines.data(), lines.data() + lines.size());
    blocks.use(lines.size());
    if (!blocks.read_on()) throw_long_line(blocks, source, lines_before);
  }
}

/// Skips everything before the table and finds it.
TextTable open_table(TextBlocks& blocks, const Source& source) {
  if (blocks.text().empty()) {
    throw source.error("empty: the file has no bytes; rows of numbers are needed");
  }
  skip_byte_order_mark(blocks, source);
  std::uint64_t lines_before = skip_first_lines(blocks, source);
  return find_table_in(blocks, source, lines_before);
}

/// Lines that one thread parses, and their result.
struct Chunk {
  std::span<const char> lines;
  std::uint64_t newlines = 0;
  std::uint64_t capacity = 0;  ///< upper bound on its rows
  double* rows = nullptr;      ///< destination of its rows
  ChunkResult result = {};
};

std::vector<Chunk> split_at_lines(std::span<const char> text, std::size_t parts) {
  std::vector<Chunk> chunks;
  const char* p = text.data();
  const char* const end = p + text.size();
  for (std::size_t i = 0; i < parts && p != end; ++i) {
    const char* stop = i + 1 == parts ? end : std::max(p, text.data() + text.size() / parts * (i + 1));
    stop = find_newline(stop, end);
    if (stop != end) ++stop;
    chunks.emplace_back().lines = {p, stop};
    p = stop;
  }
  return chunks;
}

/// Collects rows of coordinates: directly in the points if the size of the text allows an estimate of their number,
/// else in blocks that are joined at the end.
class RowCollector {
 public:
  RowCollector(const TextTable& table, std::optional<std::uint64_t> text_bytes, const Source& source)
      : table_(table),
        dims_(table.shape.dims),
        text_bytes_(text_bytes),
        source_(source),
        points_(make_points(source, 0, table.shape.dims, Precision::float64)),
        lines_(table.lines_before) {}

  /// Parses whole lines and returns the number of bytes used: all, except a row at their end whose quote is still open
  /// while more text follows.
  std::size_t parse(std::span<const char> lines, bool is_last) {
    const bool has_quotes = std::memchr(lines.data(), '"', lines.size()) != nullptr;
    const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
    const std::size_t parts = has_quotes ? 1 : std::clamp<std::size_t>(lines.size() / kChunkBytes, 1, cores);
    std::vector<Chunk> chunks = split_at_lines(lines, parts);
    parallel_tasks(chunks.size(), [&](std::size_t i, std::size_t /*end*/) { count_rows(chunks[i]); });
    double* const first_row = make_buffer(chunks, lines.size());
    parallel_tasks(chunks.size(), [&](std::size_t i, std::size_t /*end*/) {
      chunks[i].result = parse_rows(table_.shape, source_.options.on_nan, chunks[i].lines, chunks[i].rows);
    });
    std::size_t used = lines.size();
    double* next_row = first_row;
    for (const Chunk& chunk : chunks) {
      const ChunkResult& result = chunk.result;
      if (result.fault == Fault::open_quote && !is_last) {
        used = static_cast<std::size_t>(result.fault_row - lines.data());
      } else if (result.fault != Fault::none) {
        throw_fault(result, lines);
      }
      for (const std::uint64_t row : result.dropped) dropped_.push_back(rows_ + row);
      rows_ += result.rows;
      kept_ += result.kept;
      lines_ += result.fault == Fault::none ? chunk.newlines : result.lines;
      const std::uint64_t values = result.kept * dims_;
      if (chunk.rows != next_row) std::memmove(next_row, chunk.rows, values * sizeof(double));
      next_row += values;
    }
    if (!blocks_.empty()) blocks_.back().values = static_cast<std::uint64_t>(next_row - first_row);
    require_memory();
    return used;
  }

  [[nodiscard]] std::uint64_t lines() const noexcept { return lines_; }

  FilePoints take_points() {
    if (blocks_.empty()) {
      points_.truncate(narrow<std::size_t>(kept_));
    } else {
      join_blocks();
    }
    points_.inputs = {{source_.name, table_.kind, rows_, std::move(dropped_)}};
    fill_repeated();
    take_columns(points_, table_.chosen, source_);
    if (table_.has_units) points_.inputs.front().units.resize(points_.dims());
    return std::move(points_);
  }

 private:
  struct ValueBlock {
    Buffer<double> buffer;
    std::uint64_t values = 0;
  };

  /// Sets an upper bound on the rows, which is exact without comments and blank lines.
  void count_rows(Chunk& chunk) const {
    const std::span<const char> lines = chunk.lines;
    chunk.newlines = count_newlines(lines.data(), lines.data() + lines.size());
    const std::uint64_t count = chunk.newlines + (lines.back() == '\n' ? 0 : 1);
    // A row takes at least a byte per field, except a faulty one, which ends its chunk.
    chunk.capacity = std::min<std::uint64_t>(count, lines.size() / table_.columns.count + 1);
  }

  /// Assigns consecutive destinations to the rows of the chunks, and returns the first one.
  double* make_buffer(std::vector<Chunk>& chunks, std::size_t bytes) {
    std::uint64_t capacity = 0;
    for (const Chunk& chunk : chunks) capacity += chunk.capacity;
    if (text_bytes_) reserve_points(capacity, bytes);
    double* rows = nullptr;
    if (blocks_.empty() && capacity <= points_.size() - kept_) {
      rows = points_.values<double>().data() + kept_ * dims_;
    } else {
      blocks_.push_back({Buffer<double>(checked_multiply(capacity, dims_, "coordinates of a block"))});
      rows = blocks_.back().buffer.data();
    }
    double* const first = rows;
    for (Chunk& chunk : chunks) {
      chunk.rows = rows;
      rows += chunk.capacity * dims_;
    }
    return first;
  }

  /// Allocates points for the rows that the first block suggests, and a reserve. Unused memory is never touched.
  void reserve_points(std::uint64_t rows, std::size_t bytes) {
    const double share = static_cast<double>(*text_bytes_) / static_cast<double>(std::max<std::size_t>(1, bytes));
    text_bytes_.reset();
    constexpr double kReserve = 1.25;
    const std::uint64_t expected = rows + static_cast<std::uint64_t>(static_cast<double>(rows) * share * kReserve);
    const std::uint64_t most = memory_left(source_) / (dims_ * sizeof(double)) + rows;
    points_ = FilePoints(narrow<std::size_t>(std::min({expected, most, kMaxPoints})), dims_, Precision::float64);
  }

  /// The parser fills only the first slot of a column that is a coordinate and the weights. Fills the second.
  void fill_repeated() {
    const std::vector<ElementChoice>& columns = table_.chosen;
    const auto is_last = [&](const ElementChoice& choice) { return choice.column == columns.back().column; };
    const auto from = static_cast<std::size_t>(std::ranges::find_if(columns, is_last) - columns.begin());
    if (from + 1 == dims_) return;
    const std::span<double> values = points_.values<double>();
    for (std::size_t row = 0; row < values.size(); row += dims_) values[row + dims_ - 1] = values[row + from];
  }

  void join_blocks() {
    const std::uint64_t in_blocks =
        std::accumulate(blocks_.begin(), blocks_.end(), std::uint64_t{0},
                        [](std::uint64_t sum, const ValueBlock& b) { return sum + b.values; });
    FilePoints all = make_points(source_, kept_, dims_, Precision::float64);
    double* to = all.values<double>().data();
    if (points_.size() > 0) to = std::copy_n(points_.values<double>().data(), kept_ * dims_ - in_blocks, to);
    points_ = FilePoints();
    for (ValueBlock& block : blocks_) {
      to = std::copy_n(block.buffer.data(), block.values, to);
      block.buffer = Buffer<double>();
    }
    points_ = std::move(all);
  }

  /// The number of rows is not known beforehand, so the budget is checked block by block.
  void require_memory() const {
    const std::uint64_t left = memory_left(source_);
    const std::uint64_t dims = dims_;
    const std::uint64_t numbers = dropped_.size() * sizeof(std::uint64_t);
    if (numbers <= left && kept_ <= (left - numbers) / (dims * sizeof(double)) && kept_ <= kMaxPoints) return;
    if (kept_ > kMaxPoints) (void)make_points(source_, kept_, dims, Precision::float64);  // throws
    throw_over_memory(source_, "the first " + format_count(rows_, "row"), dims,
                      kept_ * dims * sizeof(double) + numbers);
  }

  [[noreturn]] void throw_fault(const ChunkResult& result, std::span<const char> lines) const;

  const TextTable& table_;
  std::size_t dims_;
  std::optional<std::uint64_t> text_bytes_;  ///< set until memory for the points is allocated
  const Source& source_;
  FilePoints points_;               ///< the first rows, if memory for them is allocated
  std::vector<ValueBlock> blocks_;  ///< the rows that follow
  std::vector<std::uint64_t> dropped_;
  std::uint64_t kept_ = 0;
  std::uint64_t rows_ = 0;
  std::uint64_t lines_;
};

void RowCollector::throw_fault(const ChunkResult& result, std::span<const char> lines) const {
  const Dialect& dialect = table_.shape.dialect;
  const Record record = split_record(result.fault_row, lines.data() + lines.size(), dialect.delimiter);
  const std::string line = fmt::format("line {} (row {})", lines_ + result.lines + 1, rows_ + result.rows);
  const std::string where = fmt::format("{}: {}", source_.name, line);
  const std::string column = table_.label(result.fault_field);
  const std::string_view value =
      trim(result.fault_field < record.fields.size() ? std::string_view(record.fields[result.fault_field]) : "");
  const std::size_t expected = table_.shape.slots.size();
  switch (result.fault) {
    case Fault::open_quote:
      throw InputError(where + ": a quote opened in this row is never closed; close or remove it");
    case Fault::ragged: {
      if (record.fields.size() == expected) {
        throw InputError(where +
                         ": something stands before the first bar or behind the last one, where the other "
                         "rows hold nothing; correct the line");
      }
      const bool may_be_decimal = dialect.delimiter == ',' && record.fields.size() == 2 * expected;
      const std::uint64_t bars = expected - table_.columns.count;
      throw InputError(fmt::format(
          "{} has {}, but {} are expected as in the first row; correct the line, put fields that hold the delimiter in "
          "quotes, or skip lines before the table with ReadOptions::text.skip_rows{}",
          where, format_count(record.fields.size() - std::min<std::uint64_t>(bars, record.fields.size()), "field"),
          table_.columns.count,
          may_be_decimal ? "; if commas are decimal marks, set ReadOptions::text.decimal = ','" : ""));
    }
    case Fault::rounded_integer:
      throw_rounded(source_, line, column, std::string(value));
    case Fault::not_finite:
      throw InputError(
          fmt::format("{}, column {} is {}; clustering needs finite {}: drop such rows with ReadOptions::on_nan = "
                      "NanPolicy::drop",
                      where, column, value.empty() ? "empty" : show_text(value), kinds_of_values(source_)));
    default: {
      std::string hint;
      if (has_decimal_comma(value)) hint = "if the comma is the decimal mark, set ReadOptions::text.decimal = ','; or ";
      if (rows_ + result.rows == 0 && table_.columns.names.empty()) {
        hint += "if this row names the columns, set ReadOptions::text.header = Header::yes; or ";
      }
      const bool may_be_time = source_.options.on_nan == NanPolicy::keep;
      throw InputError(fmt::format("{}, column {} is {}, not a number{}; {}{} from: {}", where, column,
                                   show_text(value), may_be_time ? " or a time in ISO 8601" : "", hint,
                                   how_to_choose(source_), table_.columns.describe()));
    }
  }
}

}  // namespace

OpenText::OpenText(ByteStream& stream, const Source& source)
    : blocks(stream, checked_block_bytes(source)), table(open_table(blocks, source)) {}

FilePoints read_text(ByteStream& stream, const Source& source) {
  OpenText text(stream, source);
  RowCollector rows(text.table, stream.size(), source);
  for (TextBlocks& blocks = text.blocks;;) {
    const std::span<const char> lines = blocks.whole_lines();
    blocks.use(rows.parse(lines, blocks.is_last()));
    if (blocks.is_last()) return rows.take_points();
    if (!blocks.read_on()) throw_long_line(blocks, source, rows.lines());
  }
}

}  // namespace epsflow::io
