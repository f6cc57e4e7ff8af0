#include <epsflow/io/text_reader.hpp>

#include <algorithm>
#include <cstring>
#include <future>
#include <limits>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <epsflow/core/buffer.hpp>
#include <epsflow/core/checked.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/io/text_opening.hpp>

namespace epsflow::io {
namespace {

/// Less text than this per thread is not worth a thread.
constexpr std::size_t kChunkBytes = std::size_t{1} << 20;
constexpr std::uint64_t kSmallestBlock = std::uint64_t{64} << 10;
constexpr std::uint64_t kLargestBlock = std::uint64_t{16} << 20;

/// Two blocks are in memory at a time, and the points of one, which take up to four times its bytes.
std::uint64_t block_bytes(const Source& source) noexcept {
  constexpr std::uint64_t kShareOfMemory = 32;
  return std::clamp(memory_left(source) / kShareOfMemory, kSmallestBlock, kLargestBlock);
}

/// Calls f(i) for i in [0, count), each on a thread of its own where there is more than one.
template <class F>
void for_each_parallel(std::size_t count, F f) {
  std::vector<std::future<void>> others;
  for (std::size_t i = 1; i < count; ++i) {
    others.push_back(std::async(std::launch::async | std::launch::deferred, f, i));
  }
  if (count > 0) f(std::size_t{0});
  for (std::future<void>& other : others) other.get();
}

/// Lines that one thread parses, and what comes of them.
struct Chunk {
  std::span<const char> lines;
  std::uint64_t newlines = 0;
  Buffer<double> values;
  ChunkResult result;
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

/// Rows of coordinates as they come, in blocks that are joined at the end.
class RowCollector {
 public:
  RowCollector(const TextTable& table, const Source& source) : table_(table), source_(source) {}

  /// Parses whole lines and returns how many bytes of them were used: all, but for a row at their end whose quote is
  /// still open while more text follows.
  std::size_t parse(std::span<const char> lines, bool is_last) {
    const bool has_quotes = std::memchr(lines.data(), '"', lines.size()) != nullptr;
    const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
    const std::size_t parts = has_quotes ? 1 : std::clamp<std::size_t>(lines.size() / kChunkBytes, 1, cores);
    std::vector<Chunk> chunks = split_at_lines(lines, parts);
    for_each_parallel(chunks.size(), [&](std::size_t i) { parse(chunks[i]); });
    std::size_t used = lines.size();
    for (Chunk& chunk : chunks) {
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
      if (result.kept > 0) blocks_.push_back({std::move(chunk.values), result.kept});
    }
    require_memory();
    return used;
  }

  void start_at_line(std::uint64_t lines_before) noexcept { lines_ = lines_before; }
  [[nodiscard]] std::uint64_t lines() const noexcept { return lines_; }

  Points join() {
    const std::size_t dims = table_.shape.dims;
    Points points = make_points(source_, kept_, dims, Precision::float64);
    double* to = points.values<double>().data();
    for (Block& block : blocks_) {
      to = std::copy_n(block.values.data(), block.rows * dims, to);
      block.values = Buffer<double>();
    }
    points.column_names = selected_names(table_.columns, table_.selected);
    points.column_numbers = table_.selected;
    points.inputs = {{source_.name, table_.kind, rows_, std::move(dropped_)}};
    return points;
  }

 private:
  struct Block {
    Buffer<double> values;
    std::uint64_t rows = 0;
  };

  void parse(Chunk& chunk) const {
    const std::span<const char> lines = chunk.lines;
    chunk.newlines = count_newlines(lines.data(), lines.data() + lines.size());
    // Room for every line: a bound on the rows, exact without comments and blank lines. What stays unused is never
    // touched. A row takes at least a byte per field, all but a faulty one, which ends its chunk.
    const std::uint64_t room = std::min<std::uint64_t>(chunk.newlines + 1, lines.size() / table_.columns.count + 1);
    chunk.values = Buffer<double>(checked_multiply(room, table_.shape.dims, "coordinates of a block"));
    chunk.result = parse_rows(table_.shape, source_.options.on_nan, lines, chunk.values.data());
  }

  /// Text does not say how many rows it has, so that the budget is looked at block by block.
  void require_memory() const {
    const std::uint64_t left = memory_left(source_);
    const std::uint64_t dims = table_.shape.dims;
    const std::uint64_t numbers = dropped_.size() * sizeof(std::uint64_t);
    if (numbers <= left && kept_ <= (left - numbers) / (dims * sizeof(double)) && kept_ <= kMaxPoints) return;
    if (kept_ > kMaxPoints) (void)make_points(source_, kept_, dims, Precision::float64);  // throws
    throw_over_memory(source_, "the first " + format_count(rows_, "row"), dims,
                      kept_ * dims * sizeof(double) + numbers);
  }

  [[noreturn]] void throw_fault(const ChunkResult& result, std::span<const char> lines) const;

  const TextTable& table_;
  const Source& source_;
  std::vector<Block> blocks_;
  std::vector<std::uint64_t> dropped_;
  std::uint64_t kept_ = 0;
  std::uint64_t rows_ = 0;
  std::uint64_t lines_ = 0;
};

void RowCollector::throw_fault(const ChunkResult& result, std::span<const char> lines) const {
  const Dialect& dialect = table_.shape.dialect;
  const Record record = split_record(result.fault_row, lines.data() + lines.size(), dialect.delimiter);
  const std::string where =
      fmt::format("{}: line {} (row {})", source_.name, lines_ + result.lines + 1, rows_ + result.rows);
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
    case Fault::not_finite:
      throw InputError(
          fmt::format("{}, column {} is {}; DBSCAN needs finite coordinates: drop such rows with ReadOptions::on_nan = "
                      "NanPolicy::drop",
                      where, column, value.empty() ? "empty" : show_text(value)));
    default: {
      std::string hint;
      if (has_decimal_comma(value)) hint = "if the comma is the decimal mark, set ReadOptions::text.decimal = ','; or ";
      if (rows_ + result.rows == 0 && table_.columns.names.empty()) {
        hint += "if this row names the columns, set ReadOptions::text.header = Header::yes; or ";
      }
      throw InputError(
          fmt::format("{}, column {} is {}, not a number; {}choose the coordinates with ReadOptions::columns from: {}",
                      where, column, show_text(value), hint, table_.columns.describe()));
    }
  }
}

}  // namespace

Points read_text(ByteStream& stream, const Source& source) {
  OpenText text(stream, source, block_bytes(source));
  RowCollector rows(text.table, source);
  rows.start_at_line(text.table.lines_before);
  for (TextBlocks& blocks = text.blocks;;) {
    const std::span<const char> lines = blocks.whole_lines();
    blocks.use(rows.parse(lines, blocks.is_last()));
    if (blocks.is_last()) return rows.join();
    if (!blocks.read_on()) throw_long_line(blocks, source, rows.lines());
  }
}

}  // namespace epsflow::io
