#pragma once

#include <cctype>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <string>
#include <string_view>
#include <typeinfo>

#include "support/catch.hpp"

namespace epsflow::test {

/// Returns the text of the error that f throws. Its type must be E, not a derived type.
template <class E, class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const E& error) {
    CHECK(typeid(error) == typeid(E));
    return error.what();
  } catch (const std::exception& error) {
    FAIL("another exception: " << error.what());
  }
  FAIL("no exception");
  return {};
}

/// Returns true if f throws an E, and false if it throws nothing.
template <class E, class F>
bool throws(F&& f) {
  try {
    f();
  } catch (const E&) {
    return true;
  }
  return false;
}

/// Checks that the text of an error contains every part: the cause and the remedy.
inline void check_mentions(const std::string& text, std::initializer_list<std::string_view> parts) {
  for (const std::string_view part : parts) {
    INFO("text: " << text << "\nlacks: " << part);
    CHECK(text.find(part) != std::string::npos);
  }
}

/// Checks that f throws an E, not a derived type, whose text contains every part.
template <class E, class F>
void check_error(std::initializer_list<std::string_view> parts, F&& f) {
  check_mentions(error_of<E>(f), parts);
}

/// Returns the number in "at least N bytes" of an error text, or 0.
inline std::uint64_t named_bytes(const std::string& refusal) {
  const std::size_t at = refusal.find("at least ");
  if (at == std::string::npos) return 0;
  const std::size_t end = refusal.find(" byte", at);
  std::string digits;
  for (std::size_t i = end;
       i > at && (refusal[i - 1] == ',' || std::isdigit(static_cast<unsigned char>(refusal[i - 1]))); --i) {
    if (refusal[i - 1] != ',') digits.insert(digits.begin(), refusal[i - 1]);
  }
  return digits.empty() ? 0 : std::stoull(digits);
}

}  // namespace epsflow::test
