// A text that is open at the first row of its table.
#pragma once

#include <cstdint>

#include <epsflow/io/read/byte_stream.hpp>
#include <epsflow/io/read/source.hpp>
#include <epsflow/io/read/text/text_blocks.hpp>
#include <epsflow/io/read/text/text_table.hpp>

namespace epsflow::io {

/// Skips everything before the rows and detects their layout; `blocks` continues with the first row. Throws as
/// find_table(), InputError for UTF-16 and for a text without rows, and UsageError for an unusable delimiter or decimal
/// mark.
struct OpenText {
  OpenText(ByteStream& stream, const Source& source);

  TextBlocks blocks;
  TextTable table;
};

/// Throws ResourceError for a text whose line is longer than the block in memory.
[[noreturn]] void throw_long_line(const TextBlocks& blocks, const Source& source, std::uint64_t lines_before);

}  // namespace epsflow::io
