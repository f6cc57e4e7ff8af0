#include <epsflow/cli/commands.hpp>
#include <epsflow/cli/ranks.hpp>
#include <epsflow/cli/world.hpp>

namespace {

using namespace epsflow::cli;
namespace parts = epsflow::parts;

int dispatch(const Words& words) {
  if (words.empty()) {
    say("no command is given\n\n" + program_help());
    return kUsage;
  }
  if (words.front() == "--help" || words.front() == "-h") {
    print_text(program_help());
    return kDone;
  }
  if (words.front() == "--version") {
    print_result("epsflow {}\n", EPSFLOW_VERSION);
    return kDone;
  }
  const Command& command = find_command(words.front());
  const Arguments arguments(command, {words.begin() + 1, words.end()});
  if (arguments.given("help")) {
    print_text(command_help(command));
    return kDone;
  }
  return command.run(arguments);
}

/// Runs a command on all processes of a launcher. Help and version are printed by the first.
int dispatch_over(const Words& words, parts::Communicator& ranks) {
  const Command* command = nullptr;
  std::optional<Arguments> arguments;
  together(ranks, [&] {
    if (words.empty() || words.front().starts_with('-')) return;
    command = &find_command(words.front());
    arguments.emplace(*command, Words(words.begin() + 1, words.end()));
    if (arguments->given("help") || command->run_ranks != nullptr) return;
    throw epsflow::UsageError(
        fmt::format("{} is for one process, and a launcher has started {}: leave the launcher out; what several do "
                    "together is sweep",
                    command->name, ranks.size()));
  });
  if (command != nullptr && !arguments->given("help")) return command->run_ranks(*arguments, ranks);
  int code = kDone;
  on_root(ranks, [&] { code = dispatch(words); });
  return code;
}

int run_as_rank(const Words& words, parts::Communicator& ranks) {
  if (ranks.rank() != 0) be_silent();
  try {
    return dispatch_over(words, ranks);
  } catch (const RanksFailed& end) {
    return end.code;
  }
}

/// Returns the exit code of `work`, and prints its errors.
int guarded(const std::function<int()>& work) {
  try {
    return work();
  } catch (...) {
    const CommandFailure failure = current_failure();
    if (!failure.text.empty()) say(failure.text);
    return failure.code;
  }
}

bool is_for_ranks(const Words& words) {
  return !words.empty() && std::ranges::any_of(commands(), [&](const Command& command) {
    return command.name == words.front() && command.run_ranks != nullptr;
  });
}

}  // namespace

int main(int argc, char** argv) {
  prepare_streams();
  const Words words(argv + 1, argv + argc);
  const int code = guarded([&] {
    // Without MPI, each process runs a command that is not for several processes by itself.
    if (launched().size == 1 || (!has_world() && !is_for_ranks(words))) return dispatch(words);
    return run_world(argc, argv, [&](parts::Communicator& ranks) { return run_as_rank(words, ranks); });
  });
  const int printed = guarded([] {
    flush_output();
    return kDone;
  });
  return code != kDone ? code : printed;
}
