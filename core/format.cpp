#include <epsflow/core/format.hpp>

#include <array>
#include <charconv>
#include <cstdio>

namespace epsflow {

std::string format_number(double value) {
  std::array<char, 32> text{};
  const auto [end, code] = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), end};
}

std::string format_bytes(std::uint64_t bytes) {
  constexpr std::array kUnits{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return format_count(bytes, "byte");
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  // 1023.96 would be rounded to 1024.0.
  for (; value >= 1023.95 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f %s", value, kUnits[unit]);
  return text.data();
}

std::string format_count(std::uint64_t count) {
  std::string digits = std::to_string(count);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, ",");
  return digits;
}

std::string format_count(std::uint64_t count, std::string_view noun) {
  std::string text = format_count(count) + " ";
  text += noun;
  if (count != 1) text += 's';
  return text;
}

}  // namespace epsflow
