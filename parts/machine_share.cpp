#include <epsflow/parts/machine_share.hpp>

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/core/memory.hpp>

namespace epsflow::parts {
namespace {

/// Counts the ranks that have the same name as this one.
struct Alike {
  unsigned all = 0;     ///< itself included
  unsigned before = 0;  ///< the ones of lower rank
};
Alike count_alike(Communicator& ranks, const std::string& name) {
  const PerRank<char> mine(static_cast<std::size_t>(ranks.size()), std::vector<char>(name.begin(), name.end()));
  const PerRank<char> names = all_to_all(ranks, mine);
  const auto me = names.begin() + ranks.rank();
  return {static_cast<unsigned>(std::count(names.begin(), names.end(), *me)),
          static_cast<unsigned>(std::count(names.begin(), me, *me))};
}

}  // namespace

MachineShare machine_share(Communicator& ranks) {
  std::array<char, 256> host{};
  static_cast<void>(gethostname(host.data(), host.size() - 1));
  cpu_set_t processors;
  CPU_ZERO(&processors);
  // If the call fails, as with more processors than the set can hold, all ranks count as bound to the same ones.
  const bool known = sched_getaffinity(0, sizeof(processors), &processors) == 0;
  const auto owned = known ? static_cast<unsigned>(CPU_COUNT(&processors)) : std::thread::hardware_concurrency();
  const Alike on_host = count_alike(ranks, host.data());
  const std::string_view set(reinterpret_cast<const char*>(&processors), sizeof(processors));  // NOLINT: as bytes
  const Alike on_processors = count_alike(ranks, host.data() + std::string(set));
  return {on_host.all, on_host.before, std::max(1U, owned / on_processors.all)};
}

EngineOptions share_machine(const MachineShare& share, const DeviceOptions& devices, const EngineOptions& engine) {
  EngineOptions owned = engine;
  if (devices.gpus.empty()) {
    owned.backend = BackendChoice::cpu;
  } else {
    const std::vector<EngineOptions> engines = engines_on(devices, engine);
    if (engines.size() != share.processes) {
      throw UsageError("DeviceOptions::gpus = " + devices.gpus + " is " + format_count(engines.size(), "GPU") +
                       " here, and " + std::to_string(share.processes) +
                       " processes run on this machine: name one for each, the same for those that share it");
    }
    owned.backend = BackendChoice::gpu;
    owned.gpu = engines[share.local_rank].gpu;
    owned.gpu_memory = engines[share.local_rank].gpu_memory;
  }
  if (owned.memory == 0) owned.memory = std::max<std::uint64_t>(machine_memory() / 2 / share.processes, 1_GiB);
  if (owned.threads == 0) owned.threads = share.threads;
  return owned;
}

}  // namespace epsflow::parts
