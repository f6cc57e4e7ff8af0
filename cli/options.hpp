// The tables of options (core/option.hpp) on the command line.
#pragma once

#include <stdexcept>

#include <epsflow/cli/arguments.hpp>
#include <epsflow/core/option.hpp>

namespace epsflow::cli {

/// An option as parsing, help and completion have it.
[[nodiscard]] OptionSpec spec_of(const OptionInfo& option, const OptionValue& standard);

/// Returns all options of Owner that the program has.
template <class Owner>
[[nodiscard]] std::vector<OptionSpec> specs_of() {
  std::vector<OptionSpec> specs;
  for (const Option<Owner>& option : options_of<Owner>()) {
    if (!option.program.empty()) specs.push_back(spec_of(option, default_of(option)));
  }
  return specs;
}

/// Returns one of them, by its name here.
template <class Owner>
[[nodiscard]] OptionSpec spec_of(std::string_view name) {
  for (OptionSpec& spec : specs_of<Owner>()) {
    if (spec.name == name) return std::move(spec);
  }
  throw std::logic_error("no option --" + std::string(name));
}

/// Returns the value that was given for an option.
[[nodiscard]] OptionValue given_value(const Arguments& arguments, const OptionInfo& option);

/// Sets the fields of `owner` whose options were given, but for those that are parsed elsewhere.
template <class Owner>
void take(const Arguments& arguments, Owner& owner) {
  for (const Option<Owner>& option : options_of<Owner>()) {
    if (option.set != nullptr && arguments.given(option.program)) option.set(owner, given_value(arguments, option));
  }
}

/// Puts the library's errors and notices into the words of the command line: "raise EngineOptions::memory" becomes
/// "raise --memory", "EngineOptions::backend = BackendChoice::cpu" becomes "--backend cpu".
[[nodiscard]] std::string in_program_words(std::string_view text);

}  // namespace epsflow::cli
