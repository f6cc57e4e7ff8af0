// Runs ranks as threads of this process; each may have a GPU of its own.
#pragma once

#include <cstddef>
#include <functional>

#include <epsflow/core/cancel.hpp>
#include <epsflow/parts/communicator.hpp>

namespace epsflow::parts {

/// Calls body on `ranks` threads at once, each with its communicator, and waits for all. If one throws, the current or
/// next collective call of the others throws Cancelled, and this function rethrows the first exception.
void run_ranks(int ranks, const std::function<void(Communicator&)>& body);

/// Calls body(0) to body(bodies - 1) on a thread each, and waits for all. If one throws, `stop` is cancelled, so that
/// the others end too if they check it. Rethrows the first exception that is not Cancelled; Cancelled if there is no
/// other.
void run_together(std::size_t bodies, CancelToken& stop, const std::function<void(std::size_t)>& body);

}  // namespace epsflow::parts
