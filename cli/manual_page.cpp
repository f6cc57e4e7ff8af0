#include <algorithm>

#include <epsflow/cli/running.hpp>

namespace epsflow::cli {
namespace {

/// Returns `text` escaped for roff. A line must not begin with a dot or a quote, so \& is put before these.
std::string roff(std::string_view text) {
  static constexpr std::string_view kEllipsis = "…";
  std::string out;
  bool begins = true;
  while (!text.empty()) {
    if (text.starts_with(kEllipsis)) {
      out += "...";
      text.remove_prefix(kEllipsis.size());
      begins = false;
      continue;
    }
    const char c = text.front();
    if (begins && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (c == '\'') {
      out += "\\(aq";
    } else {
      out += c;
    }
    begins = c == '\n';
    text.remove_prefix(1);
  }
  return out;
}

/// Returns lines that roff does not fill.
std::string verbatim(std::string_view text) { return ".nf\n" + roff(text) + "\n.fi\n"; }

/// Returns paragraphs that roff fills, except those with indented lines, such as lists.
std::string paragraphs(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find("\n\n"), text.size());
    const std::string_view paragraph = text.substr(0, end);
    const bool has_list = paragraph.starts_with(' ') || paragraph.find("\n ") != std::string_view::npos;
    out += ".PP\n" + (has_list ? verbatim(paragraph) : roff(paragraph) + "\n");
    text.remove_prefix(std::min(end + 2, text.size()));
  }
  return out;
}

std::string bold(std::string_view text) { return R"(\fB)" + roff(text) + R"(\fR)"; }
std::string italic(std::string_view text) { return R"(\fI)" + roff(text) + R"(\fR)"; }

std::string option_entry(const OptionSpec& option) {
  std::string names = option.letter == '\0' ? "" : bold(std::string{'-', option.letter}) + ", ";
  names += bold("--" + option.name);
  if (!option.alias.empty()) names += ", " + bold("--" + option.alias);
  const std::string value = value_name(option);
  if (!value.empty()) names += " " + italic(value);
  return ".TP\n" + names + "\n" + roff(describe(option)) + ".\n";
}

std::string group_entries(const OptionGroup& group) {
  std::string text;
  for (const OptionSpec& option : group.options) text += option_entry(option);
  return text;
}

/// Returns the commands that have a group of this caption.
Words users_of(const std::string& caption) {
  Words users;
  for (const Command& command : commands()) {
    for (const OptionGroup& group : command.groups) {
      if (group.caption == caption) users.push_back(command.name);
    }
  }
  return users;
}

/// Returns the groups of options that several commands share.
std::vector<OptionGroup> shared_groups() {
  return {metric_options(), input_options(), machine_options(), several_gpus_options(),
          search_options(), run_options(),   message_options()};
}

/// Returns whether several commands share the group, so that it is described once.
bool is_shared(const OptionGroup& group) {
  return std::ranges::any_of(shared_groups(), [&](const auto& shared) { return shared.caption == group.caption; });
}

/// Returns the manual page, in the man macros of roff.
std::string manual_page() {
  std::string text = fmt::format(".TH EPSFLOW 1 \"\" \"epsflow {}\" \"User Commands\"\n", EPSFLOW_VERSION);
  text += ".SH NAME\nepsflow \\- DBSCAN over a whole grid of parameters\n";
  text += ".SH SYNOPSIS\n.B epsflow\n.I COMMAND\n[options]\n.br\n.B epsflow help\n.I COMMAND\n";
  text +=
      ".SH DESCRIPTION\nepsflow clusters points with DBSCAN under every (eps, minpts) of a grid.\n"
      "eps is the neighbourhood radius in the unit of the coordinates; a distance of exactly eps counts.\n"
      "minpts is the number of points within eps, the point itself counted, that makes a core point.\n"
      "Labels: \\-1 is noise, clusters are 0, 1, 2, ... by their smallest core point.\n";
  text += ".SH COMMANDS\n";
  for (const Command& command : commands()) {
    text += ".SS epsflow " + roff(command.name + (command.usage.empty() ? "" : " " + command.usage)) + "\n";
    text += paragraphs(command.about);
    for (const OptionGroup& group : command.groups) {
      if (!is_shared(group)) text += group_entries(group);
    }
    text += ".PP\nFor example:\n.PP\n.RS\n" + verbatim(command.example) + ".RE\n";
  }
  text += ".SH OPTIONS OF SEVERAL COMMANDS\n";
  for (const OptionGroup& group : shared_groups()) {
    text += ".SS " + roff(group.caption) + "\n" +
            roff(fmt::format("Of {}.", fmt::join(users_of(group.caption), ", "))) + "\n" + group_entries(group);
  }
  text += ".SH EXIT STATUS\n";
  for (const ExitCode& exit : kExitCodes) {
    text += fmt::format(".TP\n.B {}\n{}.\n", exit.code, roff(exit.meaning));
  }
  return text;
}

int run_man(const Arguments&) {
  print_text(manual_page());
  return kDone;
}

}  // namespace

Command man_command() {
  return {.name = "man",
          .summary = "print this manual as a man page",
          .usage = "",
          .about = "Prints the manual in the man macros of roff, on standard output.",
          .example = "epsflow man > epsflow.1",
          .groups = {help_option()},
          .run = run_man};
}

}  // namespace epsflow::cli
