// The library's errors and notices in the words of the command line.
#pragma once

#include <string>
#include <string_view>

namespace epsflow::cli {

/// `text` with every option that the library names replaced by the program's: "raise Options::memory" becomes "raise
/// --memory", "Options::backend = BackendChoice::cpu" becomes "--backend cpu".
[[nodiscard]] std::string in_program_words(std::string_view text);

}  // namespace epsflow::cli
