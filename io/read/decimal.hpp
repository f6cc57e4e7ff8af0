// Decimal text to float64, rounded exactly. Ordinary numbers take a fast path; std::from_chars converts the rest.
#pragma once

#include <array>
#include <cfloat>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>

namespace epsflow::io {

[[nodiscard]] constexpr bool is_digit(char c) noexcept { return static_cast<unsigned char>(c - '0') < 10; }

namespace detail {

// Clinger's argument needs operations that round once, to float64.
static_assert(FLT_EVAL_METHOD == 0 && std::numeric_limits<double>::is_iec559);

inline constexpr std::array<double, 23> kPowersOfTen{1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                     1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                     1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/// Computes mantissa / 10^decimals by long double. Returns false, without a value, if the result may be rounded
/// wrongly, if `decimals` is above 22, or if long double has no 64-bit significand.
inline bool divide_wide(std::uint64_t mantissa, std::uint64_t decimals, double& value) noexcept {
#if LDBL_MANT_DIG == 64 && defined(__x86_64__)
  if (decimals >= kPowersOfTen.size()) return false;
  const long double quotient =
      static_cast<long double>(mantissa) / static_cast<long double>(kPowersOfTen[static_cast<std::size_t>(decimals)]);
  std::uint64_t significand = 0;
  std::memcpy(&significand, &quotient, sizeof significand);
  constexpr std::uint64_t kDroppedBits = 0x7FF;
  constexpr std::uint64_t kHalf = 0x400;
  if ((significand & kDroppedBits) == kHalf) return false;
  value = static_cast<double>(quotient);
  return true;
#else
  (void)mantissa, (void)decimals, (void)value;
  return false;
#endif
}

}  // namespace detail

/// Scans a plain decimal number at p, [-]digits[.digits][e[±]digits] with `decimal` for the point, and returns its end;
/// other text may follow there. The digits on one side of the point may be missing. Returns nullptr if the text does
/// not begin so, if digits of the exponent are missing, if the exact value may need parse_number(), or for an integer
/// beyond 2^53 without point and exponent. Never reads at or after `end`. O(length).
///
/// Source: Clinger, "How to read floating point numbers accurately", PLDI 1990: an integer up to 2^53 and a power of
/// ten up to 10^22 are exact in float64, so that one multiplication or division rounds once. If long double has a
/// 64-bit significand, a division of any 64-bit integer rounds once to that. Rounding the quotient to float64 is a
/// second rounding, which is harmless unless the first ended exactly between two float64 values. This covers the 16 and
/// 17 digits of printed float64.
[[nodiscard]] inline const char* scan_decimal(const char* p, const char* end, double& value,
                                              char decimal = '.') noexcept {
  const auto digit_at = [&](const char* at) noexcept {
    return static_cast<unsigned>(static_cast<unsigned char>(*at)) - '0';
  };
  const bool negative = p != end && *p == '-';
  if (negative) ++p;
  std::uint64_t mantissa = 0;
  const char* const whole = p;
  for (; p != end && digit_at(p) < 10; ++p) mantissa = mantissa * 10 + digit_at(p);
  std::ptrdiff_t digits = p - whole;
  std::ptrdiff_t exponent = 0;
  if (p != end && *p == decimal) {
    const char* const fraction = ++p;
    for (; p != end && digit_at(p) < 10; ++p) mantissa = mantissa * 10 + digit_at(p);
    exponent = fraction - p;
    digits -= exponent;
  }
  // 19 digits always fit 64 bits.
  if (digits == 0 || digits > 19) return nullptr;
  if (p != end && (*p == 'e' || *p == 'E')) {
    ++p;
    const bool down = p != end && *p == '-';
    if (p != end && (*p == '-' || *p == '+')) ++p;
    const char* const first = p;
    std::ptrdiff_t shift = 0;
    for (; p != end && digit_at(p) < 10 && p - first < 4; ++p)
      shift = shift * 10 + static_cast<std::ptrdiff_t>(digit_at(p));
    if (p == first || (p != end && digit_at(p) < 10)) return nullptr;
    exponent += down ? -shift : shift;
  }
  constexpr std::uint64_t kExact = std::uint64_t{1} << 53;
  constexpr std::ptrdiff_t kMost = detail::kPowersOfTen.size() - 1;
  double magnitude = 0;
  if (mantissa <= kExact && exponent >= -kMost && exponent <= kMost) {
    const auto integer = static_cast<double>(static_cast<std::int64_t>(mantissa));
    magnitude = exponent < 0 ? integer / detail::kPowersOfTen[static_cast<std::size_t>(-exponent)]
                             : integer * detail::kPowersOfTen[static_cast<std::size_t>(exponent)];
  } else if (exponent >= 0 || !detail::divide_wide(mantissa, static_cast<std::uint64_t>(-exponent), magnitude)) {
    return nullptr;
  }
  value = negative ? -magnitude : magnitude;
  return p;
}

/// Returns the whole text as a float64, rounded to nearest even: a decimal number or, in any case, nan, nan(…), inf or
/// infinity, with an optional sign and without blanks around it. Too large a number gives an infinity, too small a
/// number zero. Returns nothing for other text.
[[nodiscard]] std::optional<double> parse_number(std::string_view text) noexcept;

}  // namespace epsflow::io
