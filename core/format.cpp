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

std::string format_short(double value) {
  if (value >= 999.5 && value < 1e7) {
    const double unit = std::pow(10, std::floor(std::log10(value)) - 2);
    return format_count(static_cast<std::uint64_t>(std::llround(std::round(value / unit) * unit)));
  }
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::general, 3).ptr;
  return {text.data(), end};
}

namespace {

/// Returns bytes in the largest unit of which there is at least one, with one decimal place, rounded by `round`.
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

std::optional<std::uint64_t> parse_bytes(std::string_view text) {
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (text.starts_with(' ')) text.remove_prefix(1);
  std::string unit;
  for (const char c : text) unit += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  static constexpr std::string_view kPrefixes = "kmgt";
  if (!unit.empty() && unit != "b") {
    const std::size_t prefix = kPrefixes.find(unit.front());
    const std::string_view rest = std::string_view(unit).substr(1);
    const bool thousands = rest == "b";
    if (prefix == std::string_view::npos || !(rest.empty() || thousands || rest == "i" || rest == "ib"))
      return std::nullopt;
    for (std::size_t i = 0; i <= prefix; ++i) value *= thousands ? 1000 : 1024;
  }
  if (!(value >= 1) || value > 0x1p62) return std::nullopt;
  return static_cast<std::uint64_t>(value);
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
