// The processes that an MPI launcher has started together. They are the ranks of one run.
#pragma once

#include <functional>

#include <epsflow/parts/communicator.hpp>

namespace epsflow::cli {

/// The rank and size that the launcher passes in the environment, before MPI is initialised.
struct Launched {
  int rank = 0;
  int size = 1;  ///< 1 without a launcher
};
[[nodiscard]] Launched launched();

/// Returns whether this build has MPI.
[[nodiscard]] bool has_world() noexcept;

/// Calls body on every process and returns its result. If body throws, rank and error are printed to standard error,
/// and all processes end at once with the exit code of that failure. In a build without MPI, or if the launcher belongs
/// to another MPI, body is not called: the first process prints an error and returns kUsage, the others return kDone.
[[nodiscard]] int run_world(int argc, char** argv, const std::function<int(parts::Communicator&)>& body);

}  // namespace epsflow::cli
