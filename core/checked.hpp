// Checked narrowing and size arithmetic: sizes are 64-bit everywhere, ids are 32-bit, and no conversion loses a bit.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include <epsflow/core/error.hpp>

namespace epsflow {

/// Converts between integer types. Throws Error if the value does not fit; `what` names the quantity.
template <std::integral To, std::integral From>
constexpr To narrow(From value, const char* what = "value") {
  if (!std::in_range<To>(value)) {
    throw Error(std::string(what) + " " + std::to_string(value) + " does not fit " + std::to_string(sizeof(To) * 8) +
                " bits");
  }
  return static_cast<To>(value);
}

/// Returns a * b for byte counts. Throws ResourceError on overflow. Otherwise the product for a file whose header
/// claims 2^60 rows could wrap round, and lead to a small allocation instead of an error.
inline std::uint64_t checked_multiply(std::uint64_t a, std::uint64_t b, const char* what = "size") {
  if (b != 0 && a > std::numeric_limits<std::uint64_t>::max() / b) {
    throw ResourceError(std::string(what) + ": " + std::to_string(a) + " x " + std::to_string(b) +
                        " does not fit 64 bits");
  }
  return a * b;
}

}  // namespace epsflow
