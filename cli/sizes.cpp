#include <epsflow/cli/sizes.hpp>

#include <cctype>
#include <charconv>
#include <cmath>

namespace epsflow::cli {

std::optional<std::uint64_t> parse_bytes(std::string_view text) {
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{}) return std::nullopt;
  std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  if (unit.starts_with(' ')) unit.remove_prefix(1);
  if (unit.ends_with('B') || unit.ends_with('b')) unit.remove_suffix(1);
  if (unit.ends_with('i')) unit.remove_suffix(1);
  static constexpr std::string_view kUnits = "kmgt";
  int power = 0;
  if (unit.size() == 1) {
    const std::size_t at = kUnits.find(static_cast<char>(std::tolower(static_cast<unsigned char>(unit.front()))));
    if (at == std::string_view::npos) return std::nullopt;
    power = static_cast<int>(at) + 1;
  } else if (!unit.empty()) {
    return std::nullopt;
  }
  const double bytes = std::ldexp(value, 10 * power);
  if (!(bytes >= 1) || bytes > 0x1p62) return std::nullopt;
  return static_cast<std::uint64_t>(bytes);
}

}  // namespace epsflow::cli
