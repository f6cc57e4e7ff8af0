#include <epsflow/io/read/decimal.hpp>

#include <charconv>
#include <cstdint>
#include <limits>

namespace epsflow::io {
namespace {

// The value of a number that from_chars found out of range: an infinity, or a zero, by the sign of its decimal
// exponent.
double out_of_range_value(std::string_view text) noexcept {
  const bool negative = !text.empty() && text.front() == '-';
  // Position of the first digit that is not zero, relative to the decimal point.
  std::int64_t magnitude = 0;
  bool fraction = false;
  bool significant = false;
  std::size_t i = negative ? 1 : 0;
  for (; i < text.size() && (is_digit(text[i]) || text[i] == '.'); ++i) {
    if (text[i] == '.') {
      fraction = true;
    } else if (!significant && text[i] == '0') {
      magnitude -= fraction ? 1 : 0;
    } else {
      significant = true;
      magnitude += fraction ? 0 : 1;
    }
  }
  if (i + 1 < text.size()) {
    const std::size_t first = i + (text[i + 1] == '+' ? 2 : 1);
    std::int64_t exponent = 0;
    const auto code = std::from_chars(text.data() + first, text.data() + text.size(), exponent).ec;
    constexpr std::int64_t kHuge = std::int64_t{1} << 60;
    if (code == std::errc::result_out_of_range) exponent = text[first] == '-' ? -kHuge : kHuge;
    if (exponent > kHuge) exponent = kHuge;
    if (exponent < -kHuge) exponent = -kHuge;
    magnitude += exponent;
  }
  const double value = magnitude > 0 ? std::numeric_limits<double>::infinity() : 0.0;
  return negative ? -value : value;
}

}  // namespace

std::optional<double> parse_number(std::string_view text) noexcept {
  if (!text.empty() && text.front() == '+') {
    text.remove_prefix(1);
    if (!text.empty() && text.front() == '-') return std::nullopt;
  }
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, value);
  if (text.empty() || stop != end || code == std::errc::invalid_argument) return std::nullopt;
  if (code == std::errc::result_out_of_range) return out_of_range_value(text);
  return value;
}

}  // namespace epsflow::io
