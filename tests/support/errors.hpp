// Errors as text, with the exact type checked.
#pragma once

#include <exception>
#include <initializer_list>
#include <string>
#include <string_view>
#include <typeinfo>

#include "support/catch.hpp"

namespace epsflow::test {

/// The text of the error that f throws, which must be of type E and of no type derived from it.
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

/// Checks that an error's text holds every part: the culprit and the remedy.
inline void check_mentions(const std::string& text, std::initializer_list<std::string_view> parts) {
  for (const std::string_view part : parts) {
    INFO("text: " << text << "\nlacks: " << part);
    CHECK(text.find(part) != std::string::npos);
  }
}

}  // namespace epsflow::test
