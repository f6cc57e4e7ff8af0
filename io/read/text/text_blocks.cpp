#include <epsflow/io/read/text/text_blocks.hpp>

#include <algorithm>
#include <cstring>
#include <string_view>

namespace epsflow::io {
namespace {

std::size_t size_of_blocks(const ByteStream& stream, std::uint64_t wanted) noexcept {
  // One byte more than the size of a short file lets the first read find its end.
  return static_cast<std::size_t>(stream.size() ? std::min(wanted, *stream.size() + 1) : wanted);
}

bool first_line_ends_with_return(std::span<const char> text) noexcept {
  const auto end = std::find_if(text.begin(), text.end(), [](char c) { return c == '\r' || c == '\n'; });
  return end != text.end() && *end == '\r' && end + 1 != text.end() && end[1] != '\n';
}

/// Replaces carriage returns, except in CRLF, by line feeds.
void replace_lone_returns(std::span<char> text) noexcept {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\r' && (i + 1 == text.size() || text[i + 1] != '\n')) text[i] = '\n';
  }
}

}  // namespace

TextBlocks::TextBlocks(ByteStream& stream, std::uint64_t block_bytes)
    : stream_(stream),
      block_bytes_(size_of_blocks(stream, block_bytes)),
      // A writer of a pipe may be slow; errors in the present block must not wait for it.
      reads_ahead_(stream.size().has_value() || stream.is_gzip()) {
  sides_[0] = Buffer<char>(2 * block_bytes_);
  const std::size_t size = stream.read(block_of(0));
  text_ = block_of(0).first(size);
  is_last_ = size < block_bytes_;
  if (first_line_ends_with_return(text_)) {
    has_lone_returns_ = true;
    replace_lone_returns(block_of(0).first(size));
  }
  if (is_last_) return;
  sides_[1] = Buffer<char>(2 * block_bytes_);
  start_reading(1);
}

TextBlocks::~TextBlocks() {
  // A deferred read that has not been requested is dropped.
  if (ahead_.valid() && reads_ahead_) ahead_.wait();
}

std::span<const char> TextBlocks::whole_lines() const noexcept {
  if (is_last_) return text_;
  const std::size_t last = std::string_view(text_.data(), text_.size()).rfind('\n');
  return text_.first(last == std::string_view::npos ? 0 : last + 1);
}

bool TextBlocks::read_on() {
  if (text_.size() > block_bytes_) return false;
  const std::size_t other = 1 - side_;
  const std::size_t size = ahead_.get();
  std::span<char> block = block_of(other).first(size);
  if (has_lone_returns_) replace_lone_returns(block);
  char* const begin = block.data() - text_.size();
  std::memcpy(begin, text_.data(), text_.size());
  text_ = {begin, text_.size() + size};
  is_last_ = size < block_bytes_;
  side_ = other;
  if (!is_last_) start_reading(1 - side_);
  return true;
}

std::span<char> TextBlocks::block_of(std::size_t side) noexcept { return sides_[side].span().subspan(block_bytes_); }

void TextBlocks::start_reading(std::size_t side) {
  ahead_ = std::async(reads_ahead_ ? std::launch::async : std::launch::deferred,
                      [this, side] { return stream_.read(block_of(side)); });
}

}  // namespace epsflow::io
