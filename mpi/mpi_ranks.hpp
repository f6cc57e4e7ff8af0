// Ranks that are processes of MPI.
#pragma once

#include <mpi.h>

#include <functional>
#include <memory>

#include <epsflow/parts/exchange.hpp>

namespace epsflow::mpi {

/// The ranks of a communicator, of which it makes a copy of its own. MPI must be initialised with MPI_THREAD_SERIALIZED or more, as calls
/// come from one thread at a time, but not always the same. Throws UsageError where it is not.
/// carried: MPI carries all there is to send; else processes of one machine read it from each other, where the system lets them.
[[nodiscard]] std::unique_ptr<parts::Exchange> make_exchange(MPI_Comm communicator, bool carried = false);

/// Calls body with the exchange of all processes and returns what it returns, between MPI_Init_thread() and MPI_Finalize(). Where body
/// throws on a rank, its reason goes to standard error once, with the rank, and all processes end with exit_code(exception).
int run_world(int* argc, char*** argv, const std::function<int(parts::Exchange&)>& body,
              const std::function<int(const std::exception&)>& exit_code);

}  // namespace epsflow::mpi
