// A stream of text in blocks, of which the reader leaves what it cannot use yet to the next one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <future>
#include <span>

#include <epsflow/core/buffer.hpp>
#include <epsflow/io/read/byte_stream.hpp>

namespace epsflow::io {

/// Hands out a stream block by block. Line ends that are lone carriage returns become line feeds when the first line
/// ends with one. While a block is used the next one is read, where its bytes can be had without waiting for somebody.
/// Not for several threads at once. Memory: two blocks, and what was left of one.
class TextBlocks {
 public:
  TextBlocks(ByteStream& stream, std::uint64_t block_bytes);
  ~TextBlocks();
  TextBlocks(const TextBlocks&) = delete;
  TextBlocks& operator=(const TextBlocks&) = delete;

  /// The text so far not used: the first block at the beginning. Valid until the next call of read_on().
  [[nodiscard]] std::span<const char> text() const noexcept { return text_; }
  /// The same up to its last line end, or to the end of the stream.
  [[nodiscard]] std::span<const char> whole_lines() const noexcept;
  /// Whether nothing follows behind text().
  [[nodiscard]] bool is_last() const noexcept { return is_last_; }

  /// Drops the first `count` bytes of text().
  void use(std::size_t count) noexcept { text_ = text_.subspan(count); }
  /// Puts the next block behind text(). Returns false, and does nothing, when text() is still longer than a block.
  /// Throws what ByteStream::read throws.
  [[nodiscard]] bool read_on();

 private:
  [[nodiscard]] std::span<char> block_of(std::size_t side) noexcept;
  void start_reading(std::size_t side);

  ByteStream& stream_;
  std::size_t block_bytes_;
  std::array<Buffer<char>, 2> sides_;  ///< room for what was left over, then for a block
  std::size_t side_ = 0;               ///< the one that text() lies in
  std::span<const char> text_;
  std::future<std::size_t> ahead_;  ///< bytes read into the other one
  bool reads_ahead_;
  bool has_lone_returns_ = false;
  bool is_last_ = false;
};

}  // namespace epsflow::io
