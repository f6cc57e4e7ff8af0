// The engines that share a sweep.
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
  /// "all", or numbers of GPUs: "0,1". A GPU that is named twice is two devices with half of its memory each. Empty: EngineOptions says it.
  std::string gpus = {};

  friend bool operator==(const DeviceOptions&, const DeviceOptions&) = default;
};

/// The options of an engine for each of these devices, one or more: threads and memory of `engine` are divided between them, and so is the
/// memory of a GPU that is named several times. Throws UsageError where the list cannot be read, names a GPU that is not there, or
/// comes with EngineOptions::gpu or BackendChoice::cpu; ResourceError where "all" finds no GPU.
[[nodiscard]] std::vector<EngineOptions> engines_on(const DeviceOptions& devices, const EngineOptions& engine);

/// Whether an engine with these options works on the CPU.
[[nodiscard]] bool on_the_host(const EngineOptions& engine);

/// Engines with these options, made at once: setting up a GPU takes some 0.2 s. Throws as Engine.
[[nodiscard]] std::vector<Engine> make_engines(std::span<const EngineOptions> options, const Observer& observer = {});

}  // namespace epsflow::parts

namespace epsflow {
template <>
std::span<const Option<parts::DeviceOptions>> options_of<parts::DeviceOptions>() noexcept;
}  // namespace epsflow
