// The processes that a launcher of MPI has started together: several of them are ranks of one run.
#pragma once

#include <functional>

#include <epsflow/parts/exchange.hpp>

namespace epsflow::cli {

/// What the launcher tells this process in its environment, before MPI is asked.
struct Launched {
  int rank = 0;
  int size = 1;  ///< 1 without a launcher
};
[[nodiscard]] Launched launched();

/// Whether this build has MPI.
[[nodiscard]] bool has_world() noexcept;

/// Calls body on every process with the exchange of all, and returns what it returns. Where body throws, all processes
/// end with the exit code of that failure, whatever they are at, and one line says which rank has failed and why.
/// Without MPI it is an error, which the first process tells.
[[nodiscard]] int run_world(int argc, char** argv, const std::function<int(parts::Exchange&)>& body);

}  // namespace epsflow::cli
