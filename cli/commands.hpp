// The commands of the program.
#pragma once

#include <array>

#include <epsflow/cli/arguments.hpp>

namespace epsflow::cli {

inline constexpr int kDone = 0;
inline constexpr int kDefect = 1;
inline constexpr int kUsage = 2;
inline constexpr int kInput = 3;
inline constexpr int kResources = 4;
inline constexpr int kInterrupted = 130;
inline constexpr int kReaderGone = 141;  // the code that shells show for a program that SIGPIPE has ended

struct ExitCode {
  int code;
  std::string_view meaning;
};
inline constexpr std::array kExitCodes{
    ExitCode{kDone, "done"},
    ExitCode{kDefect, "a defect of epsflow: please report it"},
    ExitCode{kUsage, "usage: a command, option or value that epsflow does not accept"},
    ExitCode{kInput, "input: a file that is missing or cannot be read as points"},
    ExitCode{kResources, "resources: memory, disk, permissions, a result that cannot be printed"},
    ExitCode{kInterrupted, "interrupted; what is finished is kept"},
    ExitCode{kReaderGone, "the reader of standard output has gone"}};

/// The end of the program after an error.
struct CommandFailure {
  int code = kDone;
  std::string text = {};  ///< the text for say(); empty if nothing is to be printed
};

/// Returns the failure for the current exception. Must be called in a catch block.
[[nodiscard]] CommandFailure current_failure();

/// Returns all commands, in the order of help.
[[nodiscard]] const std::vector<Command>& commands();

/// Returns the command of this name. Throws UsageError if there is none; its text suggests a similar name, if any.
[[nodiscard]] const Command& find_command(std::string_view name);

/// Return the texts of `epsflow --help` and of `epsflow COMMAND --help`.
[[nodiscard]] std::string program_help();
[[nodiscard]] std::string command_help(const Command& command);

[[nodiscard]] Command explore_command();
[[nodiscard]] Command suggest_command();
[[nodiscard]] Command sweep_command();
/// Runs `epsflow sweep` on all ranks together and returns the exit code. It is the run_ranks of sweep_command().
[[nodiscard]] int run_sweep_over_ranks(const Arguments& arguments, parts::Communicator& ranks);
[[nodiscard]] Command hdbscan_command();
[[nodiscard]] Command report_command();
[[nodiscard]] Command predict_command();
[[nodiscard]] Command cluster_command();
[[nodiscard]] Command fof_command();
[[nodiscard]] Command tracks_command();
[[nodiscard]] Command watch_command();
[[nodiscard]] Command compare_command();
[[nodiscard]] Command validity_command();
[[nodiscard]] Command neighbors_command();
[[nodiscard]] Command plan_command();
[[nodiscard]] Command k_distance_command();
[[nodiscard]] Command generate_command();
[[nodiscard]] Command info_command();
[[nodiscard]] Command help_command();
[[nodiscard]] Command man_command();
[[nodiscard]] Command completion_command();

}  // namespace epsflow::cli
