// What was given to one command, checked against its options.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <map>

#include <epsflow/cli/command.hpp>
#include <epsflow/cli/output.hpp>

namespace epsflow::cli {

/// Returns words as paths.
[[nodiscard]] inline std::vector<std::filesystem::path> paths_of(const Words& words) {
  return {words.begin(), words.end()};
}

class Arguments {
 public:
  /// Parses the words behind the name of `command`, which must outlive this. Throws UsageError naming the option and
  /// what it may be.
  Arguments(const Command& command, const Words& words);

  [[nodiscard]] const Command& command() const noexcept { return *command_; }
  [[nodiscard]] const Words& operands() const noexcept { return operands_; }
  /// Returns the options that were given, with their values ("true" for flags, the first of several), by name.
  [[nodiscard]] const std::map<std::string, std::string, std::less<>>& all_given() const noexcept { return values_; }

  [[nodiscard]] bool given(std::string_view name) const { return values_.contains(name); }
  /// Returns all values of an option that may be given more than once, in their order.
  [[nodiscard]] Words texts(std::string_view name) const;
  /// Returns the value given, or the default.
  [[nodiscard]] const std::string& text(std::string_view name) const;
  [[nodiscard]] std::uint64_t number(std::string_view name) const;
  /// Returns a number that need not be whole. Throws UsageError for what is none, or is not allowed, with `what` it has
  /// to be.
  [[nodiscard]] double decimal(std::string_view name, std::string_view what, bool (*allowed)(double)) const;
  /// Returns bytes.
  [[nodiscard]] std::uint64_t size(std::string_view name) const;

  /// Throws UsageError naming every one of these options, and the operand, that was not given.
  void require(const Words& names) const;

 private:
  void check(const OptionSpec& option, const std::string& value) const;

  const Command* command_;
  Words operands_;
  std::map<std::string, std::string, std::less<>> values_;
  std::map<std::string, Words, std::less<>> further_;  ///< values behind the first
};

/// Returns --json, --quiet, --help.
[[nodiscard]] OptionGroup message_options();
[[nodiscard]] Messages parse_messages(const Arguments& arguments);
/// Returns --help alone, for commands that print nothing but text.
[[nodiscard]] OptionGroup help_option();

}  // namespace epsflow::cli
