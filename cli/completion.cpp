#include <epsflow/cli/commands.hpp>

namespace epsflow::cli {
namespace {

std::string bash_reply(const Words& words) {
  return fmt::format("COMPREPLY=($(compgen -W {} -- \"$cur\"))", in_quotes(fmt::format("{}", fmt::join(words, " "))));
}

/// The text by which a script completes the value of an option, for each kind of value.
struct ShellValues {
  std::string word, file, folder, other;
  std::string flag = {};

  [[nodiscard]] const std::string& of(ValueKind kind) const {
    if (kind == ValueKind::flag) return flag;
    if (kind == ValueKind::word) return word;
    if (kind == ValueKind::file) return file;
    return kind == ValueKind::folder ? folder : other;
  }
};

std::string bash_value(const OptionSpec& option) {
  return ShellValues{.word = bash_reply(option.words),
                     .file = "compopt -o filenames; COMPREPLY=($(compgen -f -- \"$cur\"))",
                     .folder = "compopt -o filenames; COMPREPLY=($(compgen -d -- \"$cur\"))",
                     .other = "COMPREPLY=()"}
      .of(option.kind);
}

std::string bash_script() {
  std::string text =
      "# bash completion for epsflow\n"
      "_epsflow() {\n"
      "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
      "  COMPREPLY=()\n"
      "  if [[ $COMP_CWORD -eq 1 ]]; then\n";
  Words first;
  for (const Command& command : commands()) first.push_back(command.name);
  first.insert(first.end(), {"--help", "--version"});
  text += "    " + bash_reply(first) + "\n    return\n  fi\n  case ${COMP_WORDS[1]} in\n";
  for (const Command& command : commands()) {
    Words names;
    text += "    " + command.name + ")\n      case $prev in\n";
    for_each_name(command, [&](const OptionSpec& option, const std::string& name) {
      names.push_back("--" + name);
      if (option.kind != ValueKind::flag)
        text += fmt::format("        --{}) {}; return ;;\n", name, bash_value(option));
    });
    text +=
        "      esac\n      if [[ $cur == -* ]]; then\n        " + bash_reply(names) + "\n        return\n      fi\n";
    if (!command.operand.words.empty()) {
      text += "      " + bash_reply(command.operand.words) + "\n";
    } else if (!command.operand.name.empty()) {
      text += "      compopt -o filenames; COMPREPLY=($(compgen -f -- \"$cur\"))\n";
    }
    text += "      ;;\n";
  }
  return text + "  esac\n}\ncomplete -F _epsflow epsflow\n";
}

std::string zsh_value(const OptionSpec& option) {
  return ShellValues{.word = fmt::format(":{}:({})", option.name, fmt::join(option.words, " ")),
                     .file = ":file:_files",
                     .folder = ":folder:_files -/",
                     .other = fmt::format(":{}: ", option.name)}
      .of(option.kind);
}

/// Returns the description of an option inside an _arguments specification.
std::string zsh_help(const OptionSpec& option) {
  std::string text;
  for (const char c : describe(option)) {
    if (c == '[' || c == ']' || c == '\\') text += '\\';
    text += c;
  }
  return text;
}

std::string zsh_script() {
  std::string text = "#compdef epsflow\n_epsflow() {\n  if (( CURRENT == 2 )); then\n    local -a commands=(\n";
  for (const Command& command : commands()) {
    text += "      " + in_quotes(command.name + ":" + command.summary) + "\n";
  }
  text +=
      "    )\n    _describe command commands\n    return\n  fi\n  local command=$words[2]\n"
      "  shift words\n  (( CURRENT-- ))\n  case $command in\n";
  for (const Command& command : commands()) {
    text += "    " + command.name + ")\n      _arguments";
    for_each_name(command, [&](const OptionSpec& option, const std::string& name) {
      text += " \\\n        " +
              in_quotes((option.several ? "*--" : "--") + name + "[" + zsh_help(option) + "]" + zsh_value(option));
    });
    if (!command.operand.words.empty()) {
      text += " \\\n        " + in_quotes(fmt::format("*:operand:({})", fmt::join(command.operand.words, " ")));
    } else if (!command.operand.name.empty()) {
      text += " \\\n        '*:file:_files'";
    }
    text += "\n      ;;\n";
  }
  return text + "  esac\n}\n_epsflow \"$@\"\n";
}

std::string fish_value(const OptionSpec& option) {
  return ShellValues{.word = fmt::format(" -x -a '{}'", fmt::join(option.words, " ")),
                     .file = " -r -F",
                     .folder = " -x -a '(__fish_complete_directories)'",
                     .other = " -x"}
      .of(option.kind);
}

std::string fish_script() {
  std::string text = "# fish completion for epsflow\ncomplete -c epsflow -f\n";
  for (const Command& command : commands()) {
    text += fmt::format("complete -c epsflow -n __fish_use_subcommand -a {} -d {}\n", command.name,
                        in_quotes(command.summary, "\\'"));
    const std::string of_command = fmt::format("complete -c epsflow -n '__fish_seen_subcommand_from {}'", command.name);
    for_each_name(command, [&](const OptionSpec& option, const std::string& name) {
      const std::string letter = option.letter == '\0' ? "" : fmt::format(" -s {}", option.letter);
      text += fmt::format("{}{} -l {}{} -d {}\n", of_command, letter, name, fish_value(option),
                          in_quotes(describe(option), "\\'"));
    });
    if (!command.operand.words.empty()) {
      text += fmt::format("{} -a '{}'\n", of_command, fmt::join(command.operand.words, " "));
    } else if (!command.operand.name.empty()) {
      text += of_command + " -F\n";
    }
  }
  return text;
}

std::string completion_script(const std::string& shell) {
  if (shell == "bash") return bash_script();
  if (shell == "zsh") return zsh_script();
  if (shell == "fish") return fish_script();
  throw UsageError("there is no completion for '" + shell + "'; bash, zsh and fish are possible");
}

int run_completion(const Arguments& arguments) {
  arguments.require({});
  if (arguments.operands().size() > 1) throw UsageError("completion takes one shell at a time");
  print_text(completion_script(arguments.operands().front()));
  return kDone;
}

}  // namespace

Command completion_command() {
  return {.name = "completion",
          .summary = "print a script that completes epsflow's commands and options",
          .usage = "bash|zsh|fish",
          .about = "Prints a script that lets the shell complete commands, options and their values.",
          .example = "source <(epsflow completion bash)",
          .operand = {"SHELL", {"bash", "zsh", "fish"}},
          .groups = {help_option()},
          .run = run_completion};
}

}  // namespace epsflow::cli
