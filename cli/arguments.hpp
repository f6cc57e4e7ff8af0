// The arguments of one command, checked against its options.
#pragma once

#include <filesystem>
#include <map>

#include <epsflow/cli/command.hpp>
#include <epsflow/cli/output.hpp>

namespace epsflow::cli {

/// Returns words as paths.
[[nodiscard]] inline std::vector<std::filesystem::path> paths_of(const Words& words) {
  return {words.begin(), words.end()};
}

/// Options by name, with their values: "true" for a flag, the first of several values.
using OptionValues = std::map<std::string, std::string, std::less<>>;

/// The operands and options that were given to a command. Options are named by OptionSpec::name, without dashes.
class Arguments {
 public:
  /// Parses the words after the name of `command`, which must outlive the object. Throws UsageError for unknown or
  /// repeated options, for values that are missing or not allowed, and for operands if the command takes none.
  Arguments(const Command& command, const Words& words);
  /// Does the same for options and operands of another call, all of which the command has.
  Arguments(const Command& command, const OptionValues& options, const Words& operands);

  [[nodiscard]] const Command& command() const noexcept { return *command_; }
  [[nodiscard]] const Words& operands() const noexcept { return operands_; }
  [[nodiscard]] const OptionValues& all_given() const noexcept { return values_; }

  [[nodiscard]] bool given(std::string_view name) const { return values_.contains(name); }
  /// Returns all given values of an option that may be repeated, in order; without its default.
  [[nodiscard]] Words texts(std::string_view name) const;

  // The next four return the given value of an option, else its default. They throw std::logic_error if the command
  // does not have the option.

  /// Returns a text; empty if the option is not given and has no default.
  [[nodiscard]] const std::string& text(std::string_view name) const;
  /// Returns a whole number; 0 if the option is not given and has no default.
  [[nodiscard]] std::uint64_t number(std::string_view name) const;
  /// Returns a real number. Throws UsageError if it is not a number or not allowed; `what` describes allowed values.
  [[nodiscard]] double decimal(std::string_view name, std::string_view what, bool (*allowed)(double)) const;
  /// Returns a size in bytes; 0 if the option is not given and has no default.
  [[nodiscard]] std::uint64_t size(std::string_view name) const;

  /// Throws UsageError if any of these options, or the operand, is missing. It names all that are missing.
  void require(const Words& names) const;

 private:
  void check(const OptionSpec& option, const std::string& value) const;

  const Command* command_;
  Words operands_;
  OptionValues values_;
  std::map<std::string, Words, std::less<>> further_;  ///< the values after the first
};

/// Returns --json, --quiet, --help.
[[nodiscard]] OptionGroup message_options();
[[nodiscard]] Messages parse_messages(const Arguments& arguments);
/// Returns --help alone, for commands that print only text.
[[nodiscard]] OptionGroup help_option();

}  // namespace epsflow::cli
