#include <epsflow/cli/commands.hpp>
#include <epsflow/cli/world.hpp>
#include <epsflow/mpi/mpi_ranks.hpp>

#include <stdexcept>

namespace epsflow::cli {
namespace {

/// A failure with the text that is to be printed.
struct ShownFailure : std::runtime_error {
  explicit ShownFailure(const CommandFailure& failure)
      : std::runtime_error(shown_message(failure.text)), code(failure.code) {}
  int code;
};

int code_of(const std::exception& error) {
  const auto* const told = dynamic_cast<const ShownFailure*>(&error);
  return told != nullptr ? told->code : kDefect;
}

}  // namespace

bool has_world() noexcept { return true; }

int run_world(int argc, char** argv, const std::function<int(parts::Communicator&)>& body) {
  const auto told = [&](parts::Communicator& ranks) {
    try {
      if (ranks.size() == launched().size) return body(ranks);
      if (launched().rank > 0) return kDone;
      say(fmt::format(
          "the launcher has started {} processes, and MPI knows of {}: take the launcher of the MPI that epsflow was "
          "built with",
          launched().size, ranks.size()));
      return kUsage;
    } catch (...) {
      throw ShownFailure(current_failure());
    }
  };
  return mpi::run_world(&argc, &argv, told, code_of);
}

}  // namespace epsflow::cli
