// Commands and their options as data: parsing, help, the manual page and shell completion are all made from them.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace epsflow::cli {

class Arguments;
}  // namespace epsflow::cli
namespace epsflow::parts {
class Exchange;
}
namespace epsflow::cli {

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
  std::string value = {};               ///< as help calls the value; made from `words` where there are any
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
  /// The same by all ranks together; null where it is for one process.
  int (*run_ranks)(const Arguments& arguments, parts::Exchange& ranks) = nullptr;
};

/// How help shows the value of an option: "N", "auto|cpu|gpu", or nothing for a flag.
[[nodiscard]] std::string value_name(const OptionSpec& option);

/// What an option is for with its default: "threads (default: 0, one per core)".
[[nodiscard]] std::string describe(const OptionSpec& option);

/// The option of this name or alias, or null.
[[nodiscard]] const OptionSpec* find_option(const Command& command, std::string_view name);

/// The word of `known` that `word` is most likely a slip of, or nothing where none is near.
[[nodiscard]] std::string nearest(std::string_view word, const std::vector<std::string>& known);

}  // namespace epsflow::cli
