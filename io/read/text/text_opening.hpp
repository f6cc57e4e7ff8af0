// A text opened at the first row of its table.
#pragma once

#include <cstdint>

#include <epsflow/io/read/byte_stream.hpp>
#include <epsflow/io/read/source.hpp>
#include <epsflow/io/read/text/text_blocks.hpp>
#include <epsflow/io/read/text/text_table.hpp>

namespace epsflow::io {

/// Skips what stands before the rows, and finds out what they look like: `blocks` goes on with the first of them. Throws
/// as find_table() does, and InputError for UTF-16 and for a text without rows.
struct OpenText {
  OpenText(ByteStream& stream, const Source& source);

  TextBlocks blocks;
  TextTable table;
};

/// The ResourceError of a text that goes on behind what is at hand, of which nothing can be used.
[[noreturn]] void throw_long_line(const TextBlocks& blocks, const Source& source, std::uint64_t lines_before);

}  // namespace epsflow::io
