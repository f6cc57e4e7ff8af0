#include <epsflow/io/read/text/text_opening.hpp>

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include <epsflow/core/format.hpp>

namespace epsflow::io {
namespace {

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

}  // namespace

void throw_long_line(const TextBlocks& blocks, const Source& source, std::uint64_t lines_before) {
  throw source.error<ResourceError>(
      "line {} is longer than the {} that are taken for reading lines; raise ReadOptions::memory, or close a quote "
      "that is open there",
      lines_before + 1, format_bytes(blocks.text().size()));
}

OpenText::OpenText(ByteStream& stream, const Source& source)
    : blocks(stream, checked_block_bytes(source)), table(open_table(blocks, source)) {}

}  // namespace epsflow::io
