// Divides a machine between the ranks that run on it.
#pragma once

#include <epsflow/parts/communicator.hpp>
#include <epsflow/parts/sweep.hpp>
#include <epsflow/pipeline/options.hpp>

namespace epsflow::parts {

/// The share of this process in its machine.
struct MachineShare {
  unsigned processes = 1;   ///< number of ranks on this machine, each a process
  unsigned local_rank = 0;  ///< index of this process among them, in the order of ranks
  /// The number of processors that this process is bound to, divided by the number of ranks that are bound to the same
  /// set; at least 1.
  unsigned threads = 1;
};
/// Returns the share of this process. Collective: all processes of `ranks` must call it, and only these are counted.
[[nodiscard]] MachineShare machine_share(Communicator& ranks);

/// Returns the options of the engine of this process: `engine` with a backend, memory and threads. The engine runs on
/// the CPU, or on a GPU if devices.gpus names some: entry k of this list belongs to process k of the machine, and
/// processes with the same GPU share its memory. If no memory is given, it is half of the machine's memory divided by
/// the number of processes, at least 1 GiB. If no threads are given, they are share.threads. Given memory and threads
/// are for this process and stay. Throws UsageError if the list of GPUs does not have one entry for each process of the
/// machine, and as engines_on().
[[nodiscard]] EngineOptions share_machine(const MachineShare& share, const DeviceOptions& devices,
                                          const EngineOptions& engine);

}  // namespace epsflow::parts
