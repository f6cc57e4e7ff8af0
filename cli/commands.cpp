#include <epsflow/cli/commands.hpp>

#include <exception>
#include <new>
#include <system_error>

#include <epsflow/io/write/atomic_file.hpp>

namespace epsflow::cli {

const std::vector<Command>& commands() {
  static const std::vector<Command> all{
      explore_command(),    sweep_command(), hdbscan_command(), report_command(),  suggest_command(),
      cluster_command(),    fof_command(),   tracks_command(),  watch_command(),   neighbors_command(),
      k_distance_command(), plan_command(),  predict_command(), compare_command(), validity_command(),
      generate_command(),   info_command(),  help_command(),    man_command(),     completion_command()};
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

CommandFailure current_failure() {
  try {
    throw;
  } catch (const UsageError& e) {
    return {kUsage, e.what()};
  } catch (const InputError& e) {
    return {kInput, e.what()};
  } catch (const io::ReaderGone&) {
    return {kReaderGone};
  } catch (const ResourceError& e) {
    return {kResources, e.what()};
  } catch (const Cancelled&) {
    return {kInterrupted, "interrupted; nothing was written"};
  } catch (const std::bad_alloc&) {
    return {kResources, "the machine has no memory left; lower --memory or take fewer points"};
  } catch (const std::system_error& e) {
    return {kResources, e.what()};  // for example if no thread can be started
  } catch (const std::exception& e) {
    return {kDefect, std::string("a defect of epsflow, please report it: ") + e.what()};
  }
}

}  // namespace epsflow::cli
