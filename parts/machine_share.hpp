// Divides a machine between the ranks that run on it.
#pragma once

#include <epsflow/parts/communicator.hpp>
#include <epsflow/parts/sweep.hpp>
#include <epsflow/pipeline/options.hpp>

namespace epsflow::parts {

/// The share of this process in its machine.
struct MachineShare {
  unsigned processes = 1;  ///< number of processes on this machine
  unsigned place = 0;      ///< index of this process among them
  unsigned threads = 1;    ///< its processors, divided by the processes that are bound to the same ones
};
/// Returns the share of this process. Collective.
[[nodiscard]] MachineShare machine_share(Communicator& ranks);

/// Returns the options of the engine of this process. The engine runs on the CPU, or on a GPU if `devices` names some;
/// processes with the same GPU share it. Memory and threads that are not given become the share of the process. Throws
/// UsageError if the list of GPUs does not have one entry for each process of the machine, and as engines_on().
[[nodiscard]] EngineOptions share_machine(const MachineShare& share, const DeviceOptions& devices,
                                          const EngineOptions& engine);

}  // namespace epsflow::parts
