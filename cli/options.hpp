// The option tables (core/option.hpp) on the command line.
#pragma once

#include <stdexcept>

#include <epsflow/cli/arguments.hpp>
#include <epsflow/core/option.hpp>

namespace epsflow::cli {

/// Returns an option in the form for parsing, help and completion. standard: its default.
[[nodiscard]] OptionSpec spec_of(const OptionInfo& option, const OptionValue& standard);

/// Returns all options of Owner that exist on the command line.
template <class Owner>
[[nodiscard]] std::vector<OptionSpec> specs_of() {
  std::vector<OptionSpec> specs;
  for (const Option<Owner>& option : options_of<Owner>()) {
    if (!option.program.empty()) specs.push_back(spec_of(option, default_of(option)));
  }
  return specs;
}

/// Returns the option of Owner that has this name on the command line. Throws std::logic_error if there is none.
template <class Owner>
[[nodiscard]] OptionSpec spec_of(std::string_view name) {
  for (OptionSpec& spec : specs_of<Owner>()) {
    if (spec.name == name) return std::move(spec);
  }
  throw std::logic_error("no option --" + std::string(name));
}

/// Returns the value that was given for an option, else its default; true for a flag. Texts are valid as long as the
/// arguments.
[[nodiscard]] OptionValue given_value(const Arguments& arguments, const OptionInfo& option);

/// Sets the fields of `owner` whose options were given, except those that are parsed elsewhere.
template <class Owner>
void take(const Arguments& arguments, Owner& owner) {
  for (const Option<Owner>& option : options_of<Owner>()) {
    if (option.set != nullptr && arguments.given(option.program)) option.set(owner, given_value(arguments, option));
  }
}

/// Translates the library's errors and notices to the command line: "raise EngineOptions::memory" becomes "raise
/// --memory", and "EngineOptions::backend = BackendChoice::cpu" becomes "--backend cpu".
[[nodiscard]] std::string in_program_words(std::string_view text);

}  // namespace epsflow::cli
