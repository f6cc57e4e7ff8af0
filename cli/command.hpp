// Commands and their options as data: parsing, help, the manual page and shell completion are all made from them.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace epsflow::parts {
class Exchange;
}

namespace epsflow::cli {

class Arguments;
using Words = std::vector<std::string>;

enum class ValueKind : std::uint8_t {
  flag,     ///< no value
  text,     ///< any text, checked by whoever reads it
  integer,  ///< a whole number from `least` to `most`
  size,     ///< bytes, as in 8G
  word,     ///< one of `words`
  file,     ///< path of a file
  folder,   ///< path of a folder
};

/// One option. Its name stands without the dashes.
struct OptionSpec {
  std::string name;
  char letter = '\0';      ///< short form, or none
  std::string alias = {};  ///< another long name, or none
  ValueKind kind = ValueKind::text;
  std::string value = {};               ///< as help calls the value; made from `words` if there are any
  std::vector<std::string> words = {};  ///< what a word may be
  std::uint64_t least = 0;
  std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  std::string zero = {};      ///< what the number 0 stands for
  std::string standard = {};  ///< the value without the option; empty: none
  bool may_be_empty = false;  ///< whether '' is a value
  bool several = false;       ///< whether it may be given more than once
  bool writes = false;        ///< of a file or folder: whether it is written; if not, it is read
  std::string help;           ///< what it is for, without a full stop
};

/// Options in short: one without a value, and those whose value is any text, a whole number, one of some words, a file
/// that is read, a file that is written. An empty `standard` is none.
[[nodiscard]] OptionSpec flag(std::string name, std::string help);
[[nodiscard]] OptionSpec text_option(std::string name, std::string value, std::string help, std::string standard = {});
[[nodiscard]] OptionSpec count_option(std::string name, std::uint64_t least, std::string standard, std::string help);
[[nodiscard]] OptionSpec word_option(std::string name, Words words, std::string standard, std::string help);
[[nodiscard]] OptionSpec input_file(std::string name, std::string help);
[[nodiscard]] OptionSpec output_file(std::string name, std::string help, std::string value = "FILE");
[[nodiscard]] OptionSpec folder_option(std::string name, std::string help, bool writes);
/// Returns --minpts, which is also called --min-samples.
[[nodiscard]] OptionSpec minpts_option(std::string value, std::string help);
/// Returns the option as one that may be given more than once.
[[nodiscard]] OptionSpec several(OptionSpec option);

struct OptionGroup {
  std::string caption;
  std::vector<OptionSpec> options;
};

/// What stands behind the command without dashes.
struct OperandSpec {
  std::string name = {};                ///< as usage calls it, "FILE …"; empty: none
  std::vector<std::string> words = {};  ///< what it may be; empty: a file
};

/// One command of the program.
struct Command {
  std::string name;
  std::string summary;  ///< what it does, in a few words
  std::string usage;    ///< what stands behind its name at least
  std::string about;    ///< what it does, in sentences; lines are kept
  std::string example;  ///< a whole command line that works
  OperandSpec operand = {};
  std::vector<OptionGroup> groups;
  /// Does it, and returns the exit code.
  int (*run)(const Arguments& arguments) = nullptr;
  /// Does the same by all ranks together; null if it is for one process.
  int (*run_ranks)(const Arguments& arguments, parts::Exchange& ranks) = nullptr;
};

/// Returns `text` in single quotes for a shell. quote: what stands for a quote there.
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

/// Returns how help shows the value of an option: "N", "auto|cpu|gpu", or nothing for a flag.
[[nodiscard]] std::string value_name(const OptionSpec& option);

/// Returns what an option is for with its default: "threads (default: 0, one per core)".
[[nodiscard]] std::string describe(const OptionSpec& option);

/// Returns the option of this name or alias, or null.
[[nodiscard]] const OptionSpec* find_option(const Command& command, std::string_view name);

/// Returns the word of `known` that `word` is most likely a slip of, or nothing if none is near.
[[nodiscard]] std::string nearest(std::string_view word, const std::vector<std::string>& known);

}  // namespace epsflow::cli
