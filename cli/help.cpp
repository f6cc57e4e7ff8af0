#include <algorithm>

#include <epsflow/cli/commands.hpp>

namespace epsflow::cli {
namespace {

constexpr std::size_t kLine = 100;

/// Returns `text` in lines of at most kLine characters. All lines except the first are indented.
std::string wrapped(const std::string& text, std::size_t indent) {
  std::string lines;
  std::size_t column = indent;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    if (column > indent && column + 1 + (end - at) > kLine) {
      lines += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      lines += ' ';
      ++column;
    }
    lines += text.substr(at, end - at);
    column += end - at;
    at = end + 1;
  }
  return lines;
}

std::string names_and_value(const OptionSpec& option) {
  const std::string value = value_name(option);
  return fmt::format("  {}--{}{}{}", option.letter == '\0' ? "    " : fmt::format("-{}, ", option.letter), option.name,
                     option.alias.empty() ? "" : ", --" + option.alias, value.empty() ? "" : " " + value);
}

int run_help(const Arguments& arguments) {
  if (arguments.operands().size() > 1) throw UsageError("help takes one command at a time");
  print_text(arguments.operands().empty() ? program_help() : command_help(find_command(arguments.operands().front())));
  return kDone;
}

}  // namespace

std::string program_help() {
  std::string text =
      "epsflow: DBSCAN over a whole grid of parameters\n\n"
      "usage: epsflow COMMAND [options]      epsflow help COMMAND      epsflow --version\n\n";
  for (const Command& command : commands()) {
    text += fmt::format("  {:<18}{}\n", command.name + (command.operand.name.empty() ? "" : " " + command.operand.name),
                        command.summary);
  }
  text += R"(
A first try:

  epsflow generate tec --n 200000 --out tec.npy
  epsflow sweep tec.npy --columns 0,1 --eps 0.1:0.3:0.1 --minpts 4,16,64 --out results

eps is the neighbourhood radius in the unit of the coordinates (a distance of exactly eps counts);
minpts is the number of points within eps, the point itself counted, that makes a core point.
Labels: -1 is noise, clusters are 0, 1, 2, … by their smallest core point, as scikit-learn numbers them.

Exit codes:
)";
  for (const ExitCode& exit : kExitCodes) text += fmt::format("  {:>3} {}\n", exit.code, exit.meaning);
  return text;
}

std::string command_help(const Command& command) {
  std::string text = fmt::format("usage: epsflow {}{}\n\n{}\n", command.name,
                                 command.usage.empty() ? "" : " " + command.usage, command.about);
  std::size_t width = 0;
  constexpr std::size_t kWidest = 40;
  for (const OptionGroup& group : command.groups) {
    for (const OptionSpec& option : group.options) {
      const std::size_t size = names_and_value(option).size();
      if (size <= kWidest) width = std::max(width, size);
    }
  }
  for (const OptionGroup& group : command.groups) {
    text += "\n" + group.caption + ":\n";
    for (const OptionSpec& option : group.options) {
      const std::string names = names_and_value(option);
      text += names.size() > width ? names + "\n" + std::string(width + 2, ' ') : fmt::format("{:<{}}  ", names, width);
      text += wrapped(describe(option), width + 2) + "\n";
    }
  }
  return text + "\nFor example:\n  " + command.example + "\n";
}

Command help_command() {
  return {.name = "help",
          .summary = "what a command does, and its options",
          .usage = "[COMMAND]",
          .about = "Shows what a command does, and its options.",
          .example = "epsflow help sweep",
          .operand = {"COMMAND", {"sweep", "cluster", "neighbors", "generate", "info"}},
          .groups = {help_option()},
          .run = run_help};
}

}  // namespace epsflow::cli
