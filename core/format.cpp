#include <epsflow/core/format.hpp>

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace epsflow {

std::string format_number(double value) {
  std::array<char, 32> text{};
  const auto [end, code] = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), end};
}

namespace {

/// Bytes in the largest unit of which there is at least one, with one decimal place, rounded by `round`.
template <class Round>
std::string in_units(std::uint64_t bytes, Round round) {
  constexpr std::array kUnits{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return format_count(bytes, "byte");
  double tenths = 0;
  std::size_t unit = 0;
  for (double value = static_cast<double>(bytes) / 1024;; value /= 1024, ++unit) {
    tenths = round(value * 10);
    if (tenths < 10240 || unit + 1 == kUnits.size()) break;
  }
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f %s", tenths / 10, kUnits[unit]);
  return text.data();
}

}  // namespace

std::string format_bytes(std::uint64_t bytes) {
  return in_units(bytes, [](double x) { return std::round(x); });
}

std::string format_needed_bytes(std::uint64_t bytes) {
  const std::string rounded = in_units(bytes, [](double x) { return std::ceil(x); });
  return bytes < 1024 ? rounded : rounded + " (" + format_count(bytes, "byte") + ")";
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
