// Commands and their options as data. Parsing, help, the manual page and shell completion are made from them.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace epsflow::parts {
class Communicator;
}

namespace epsflow::cli {

class Arguments;
using Words = std::vector<std::string>;

enum class ValueKind : std::uint8_t {
  flag,     ///< no value
  text,     ///< any text, which its reader checks
  integer,  ///< a whole number from `least` to `most`
  size,     ///< bytes, as in 8G
  word,     ///< one of `words`
  file,     ///< the path of a file
  folder,   ///< the path of a folder
};

/// One option.
struct OptionSpec {
  std::string name;
  char letter = '\0';      ///< the short form, if there is one
  std::string alias = {};  ///< another long name, if there is one
  ValueKind kind = ValueKind::text;
  std::string value = {};               ///< the name of the value in help; made from `words` if there are any
  std::vector<std::string> words = {};  ///< the allowed words
  std::uint64_t least = 0;
  std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  std::string zero = {};      ///< the meaning of the number 0
  std::string standard = {};  ///< the value without the option; empty if there is none
  bool may_be_empty = false;  ///< whether '' is a value
  bool several = false;       ///< whether the option may be repeated
  bool writes = false;        ///< for a file or folder: whether it is written; otherwise it is read
  std::string help;           ///< the purpose, without a full stop
};

/// Return options of the common kinds: a flag, any text, a whole number, one of several words, a file or folder that is
/// read or written. An empty `standard` means that there is no default.
[[nodiscard]] OptionSpec flag(std::string name, std::string help);
[[nodiscard]] OptionSpec text_option(std::string name, std::string value, std::string help, std::string standard = {});
[[nodiscard]] OptionSpec count_option(std::string name, std::uint64_t least, std::string standard, std::string help);
[[nodiscard]] OptionSpec word_option(std::string name, Words words, std::string standard, std::string help);
[[nodiscard]] OptionSpec input_file(std::string name, std::string help);
[[nodiscard]] OptionSpec output_file(std::string name, std::string help, std::string value = "FILE");
[[nodiscard]] OptionSpec folder_option(std::string name, std::string help, bool writes);
/// Returns --minpts with the alias --min-samples.
[[nodiscard]] OptionSpec minpts_option(std::string value, std::string help);
/// Returns the option as one that may be repeated.
[[nodiscard]] OptionSpec several(OptionSpec option);

struct OptionGroup {
  std::string caption;
  std::vector<OptionSpec> options;
};

/// The operand: the words after the command that are not options.
struct OperandSpec {
  std::string name = {};                ///< its name in usage, such as "FILE …"; empty if there is no operand
  std::vector<std::string> words = {};  ///< the allowed words; empty: a file
};

/// One command of the program.
struct Command {
  std::string name;
  std::string summary;  ///< the purpose, in a few words
  std::string usage;    ///< the required words after its name
  std::string about;    ///< the description, in sentences; line breaks are kept
  std::string example;  ///< a complete command line that works
  OperandSpec operand = {};
  std::vector<OptionGroup> groups;
  /// Runs the command and returns the exit code.
  int (*run)(const Arguments& arguments) = nullptr;
  /// Runs the command on all ranks together; null if it is for one process.
  int (*run_ranks)(const Arguments& arguments, parts::Communicator& ranks) = nullptr;
};

/// Returns `text` in single quotes for a shell. quote: the replacement of a single quote.
[[nodiscard]] std::string in_quotes(std::string_view text, std::string_view quote = "'\\''");

/// Calls f with every option of a command under each of its names, without dashes.
template <class F>
void for_each_name(const Command& command, F&& f) {
  for (const OptionGroup& group : command.groups) {
    for (const OptionSpec& option : group.options) {
      f(option, option.name);
      if (!option.alias.empty()) f(option, option.alias);
    }
  }
}

/// Returns the value of an option as help shows it: "N", "auto|cpu|gpu"; empty for a flag.
[[nodiscard]] std::string value_name(const OptionSpec& option);

/// Returns the purpose of an option with its default: "threads (default: 0, one per core)".
[[nodiscard]] std::string describe(const OptionSpec& option);

/// Returns the option of this name or alias, or null.
[[nodiscard]] const OptionSpec* find_option(const Command& command, std::string_view name);

/// Returns the word of `known` that `word` is most likely a misspelling of; empty if none is similar.
[[nodiscard]] std::string nearest(std::string_view word, const std::vector<std::string>& known);

}  // namespace epsflow::cli
