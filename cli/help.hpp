// Help, the manual page and shell completion, all made from the commands' own tables.
#pragma once

#include <epsflow/cli/command.hpp>

namespace epsflow::cli {

/// What `epsflow --help` prints.
[[nodiscard]] std::string program_help();

/// What `epsflow COMMAND --help` prints.
[[nodiscard]] std::string command_help(const Command& command);

/// The manual page, in the man macros of roff.
[[nodiscard]] std::string manual_page();

/// A script that completes commands, options and their values in `shell`: bash, zsh or fish.
[[nodiscard]] std::string completion_script(const std::string& shell);

}  // namespace epsflow::cli
