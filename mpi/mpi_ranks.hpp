// Ranks that are MPI processes.
#pragma once

#include <mpi.h>

#include <functional>
#include <memory>

#include <epsflow/parts/communicator.hpp>

namespace epsflow::mpi {

/// Returns a communicator over the ranks of an MPI communicator, which is duplicated. MPI must be initialised with
/// MPI_THREAD_SERIALIZED or more, because calls come from one thread at a time, but not always the same one; else
/// throws UsageError. carried: if true, MPI carries all data; if false, processes on one machine read each other's
/// memory if the system permits it. Collective over the MPI communicator.
[[nodiscard]] std::unique_ptr<parts::Communicator> make_communicator(MPI_Comm communicator, bool carried = false);

/// Calls body with the communicator of all processes, between MPI_Init_thread() and MPI_Finalize(), and returns its
/// result. If body throws on a rank, prints rank and reason to standard error, and all processes end with
/// exit_code(exception).
int run_world(int* argc, char*** argv, const std::function<int(parts::Communicator&)>& body,
              const std::function<int(const std::exception&)>& exit_code);

}  // namespace epsflow::mpi
