// A stream of text in blocks; unused text at the end of a block is carried over to the next.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <future>
#include <span>

#include <epsflow/core/buffer.hpp>
#include <epsflow/io/read/byte_stream.hpp>

namespace epsflow::io {

/// Reads a stream block by block. If the first line ends with a lone carriage return, all lone carriage returns become
/// line feeds. If the size of the stream is known or it is gzipped, the next block is read in the background while a
/// block is used; otherwise in read_on(), because the writer of a pipe may be slow. Not thread-safe. Memory: little
/// more than two blocks; at most four, if long lines are carried over.
class TextBlocks {
 public:
  TextBlocks(ByteStream& stream, std::uint64_t block_bytes);
  ~TextBlocks();
  TextBlocks(const TextBlocks&) = delete;
  TextBlocks& operator=(const TextBlocks&) = delete;

  /// Returns the unused text; at the beginning, the first block. Valid until the next call of read_on().
  [[nodiscard]] std::span<const char> text() const noexcept { return text_; }
  /// Returns text() up to its last line end, which may be nothing; all of text() if is_last().
  [[nodiscard]] std::span<const char> whole_lines() const noexcept;
  /// True if nothing follows after text().
  [[nodiscard]] bool is_last() const noexcept { return is_last_; }

  /// Drops the first `count` bytes of text().
  void use(std::size_t count) noexcept { text_ = text_.subspan(count); }
  /// Appends the next block to text(). Returns false, without reading, if text() is still longer than a block. Call it
  /// only if is_last() is false. Throws as ByteStream::read().
  [[nodiscard]] bool read_on();

 private:
  [[nodiscard]] std::span<char> block_of(std::size_t side) noexcept;
  void start_reading(std::size_t side);

  ByteStream& stream_;
  std::size_t block_bytes_;
  std::array<Buffer<char>, 2> sides_;  ///< each has space for the rest of a block, then for a block
  std::size_t side_ = 0;               ///< index of the buffer that holds text()
  std::span<const char> text_;
  std::future<std::size_t> ahead_;  ///< bytes read into the other buffer
  bool reads_ahead_;
  bool has_lone_returns_ = false;
  bool is_last_ = false;
};

}  // namespace epsflow::io
