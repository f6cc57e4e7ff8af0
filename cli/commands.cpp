#include <epsflow/cli/commands.hpp>

#include <epsflow/core/error.hpp>

namespace epsflow::cli {

const std::vector<Command>& commands() {
  static const std::vector<Command> all{
      explore_command(), sweep_command(),   report_command(),    suggest_command(),    cluster_command(),
      fof_command(),     tracks_command(),  neighbors_command(), k_distance_command(), plan_command(),
      predict_command(), compare_command(), validity_command(),  generate_command(),   info_command(),
      help_command(),    man_command(),     completion_command()};
  return all;
}

const Command& find_command(std::string_view name) {
  std::vector<std::string> names{"--help", "--version"};
  for (const Command& command : commands()) {
    if (command.name == name) return command;
    names.push_back(command.name);
  }
  const std::string meant = nearest(name, names);
  throw UsageError("there is no command '" + std::string(name) + "'" +
                   (meant.empty() ? "" : "; did you mean " + meant + "?") + "; epsflow --help lists the commands");
}

}  // namespace epsflow::cli
