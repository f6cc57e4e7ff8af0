// UTF-8 for messages, names and the recognition of text.
#pragma once

#include <cstddef>
#include <string_view>

namespace epsflow::io {

/// Returns the number of bytes of the first character of `text`. Returns 0 if `text` is empty or the character is not
/// valid UTF-8: stray or missing continuation bytes, overlong forms, surrogates, values over U+10FFFF.
[[nodiscard]] constexpr std::size_t utf8_length(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (text.empty()) return 0;
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first < 0xC2 || first > 0xF4) return 0;
  const std::size_t length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  if (text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return 0;
  }
  const unsigned second = byte(1);
  const bool is_overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  const bool is_outside = (first == 0xED && second > 0x9F) || (first == 0xF4 && second > 0x8F);
  return is_overlong || is_outside ? 0 : length;
}

[[nodiscard]] constexpr bool is_utf8(std::string_view text) noexcept {
  while (const std::size_t length = utf8_length(text)) text.remove_prefix(length);
  return text.empty();
}

}  // namespace epsflow::io
