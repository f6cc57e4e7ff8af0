// This file replaces world_mpi.cpp in a build without MPI.
#include <epsflow/cli/commands.hpp>
#include <epsflow/cli/world.hpp>

namespace epsflow::cli {

bool has_world() noexcept { return false; }

int run_world(int, char**, const std::function<int(parts::Communicator&)>&) {
  if (launched().rank > 0) return kDone;
  say(fmt::format(
      "a launcher of MPI has started {} processes, and this build is for one: build it with EPSFLOW_WITH_MPI=ON, or "
      "leave the launcher out",
      launched().size));
  return kUsage;
}

}  // namespace epsflow::cli
