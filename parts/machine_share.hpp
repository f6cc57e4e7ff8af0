// What a process may take of its machine, where several ranks run on it.
#pragma once

#include <epsflow/parts/exchange.hpp>
#include <epsflow/parts/sweep.hpp>
#include <epsflow/pipeline/options.hpp>

namespace epsflow::parts {

/// The part of this machine that is this process's.
struct MachineShare {
  unsigned processes = 1;  ///< on this machine
  unsigned place = 0;      ///< of this process among those
  unsigned threads = 1;    ///< of its own: what it may run on, divided among those that may run on just the same
};
/// Collective.
[[nodiscard]] MachineShare machine_share(Exchange& ranks);

/// The options of the engine of this process: on the CPU, or with a GPU of its own where `devices` names some, or as many of the list as name
/// its GPU share that. Memory and threads that are not given become its share. Throws UsageError where the list of GPUs is not one for each
/// process of the machine, and as engines_on().
[[nodiscard]] EngineOptions share_machine(const MachineShare& share, const DeviceOptions& devices,
                                          const EngineOptions& engine);

}  // namespace epsflow::parts
