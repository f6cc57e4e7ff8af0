#include <epsflow/io/read/decimal.hpp>

#include <locale.h>  // NOLINT(modernize-deprecated-headers): POSIX has newlocale() there

#include <charconv>
#include <cstdlib>
#include <string>
namespace epsflow::io {
namespace {

/// Returns the value of a number that from_chars found out of range: an infinity, zero or a tiny number.
double out_of_range_value(const std::string& text) noexcept {
  static const locale_t plain = newlocale(LC_ALL_MASK, "C", nullptr);
  return strtod_l(text.c_str(), nullptr, plain);
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
  if (code == std::errc::result_out_of_range) return out_of_range_value(std::string(text));
  return value;
}

}  // namespace epsflow::io
