// Makes the engines that share a sweep.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <epsflow/core/option.hpp>
#include <epsflow/pipeline/engine.hpp>
#include <epsflow/pipeline/options.hpp>

namespace epsflow::parts {

/// Which devices share a sweep.
struct DeviceOptions {
  /// "all", or numbers of GPUs such as "0,1". A GPU that is named twice becomes two devices with half of its memory
  /// each. If empty, EngineOptions choose the device.
  std::string gpus = {};

  friend bool operator==(const DeviceOptions&, const DeviceOptions&) = default;
};

/// Returns the options of an engine for each GPU of the list; `engine` alone, unchanged, if the list is empty. Threads
/// and memory of `engine`, or their defaults, are divided between the engines, with at least one thread for each. The
/// memory of a GPU that is named several times is divided, too. Throws UsageError if the list is not readable, names an
/// unknown GPU, or comes with EngineOptions::gpu or BackendChoice::cpu; ResourceError if no GPU can be used.
[[nodiscard]] std::vector<EngineOptions> engines_on(const DeviceOptions& devices, const EngineOptions& engine);

/// True if an engine with these options runs on the CPU because of its options, or because there is no usable GPU.
[[nodiscard]] bool on_the_host(const EngineOptions& engine);

/// Makes engines with these options, in their order, concurrently because setting up a GPU takes about 0.2 s. Calls
/// nothing but observer.on_notice, and that at most once. Throws as Engine.
[[nodiscard]] std::vector<Engine> make_engines(std::span<const EngineOptions> options, const Observer& observer = {});

}  // namespace epsflow::parts

namespace epsflow {
template <>
std::span<const Option<parts::DeviceOptions>> options_of<parts::DeviceOptions>() noexcept;
}  // namespace epsflow
