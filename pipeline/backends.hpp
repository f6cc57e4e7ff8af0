// The backends that there are, and whether the one asked for can be used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <epsflow/core/space.hpp>
#include <epsflow/pipeline/options.hpp>

namespace epsflow {

/// A backend, and what it found on this machine.
struct BackendInfo {
  std::string name;
  bool usable = true;
  std::string detail;
  bool present = true;  ///< the machine has such a device, whether or not it can be used
};
[[nodiscard]] std::vector<BackendInfo> backends();

/// The backend for n points in so many dimensions, in this space, where EngineOptions::backend leaves it open; else that. The CPU for
/// powers of minkowski, which a GPU does not know, and for points so few that it is done before a GPU has started (a third of a
/// second), unless an option asks for a GPU: gpu, gpu_memory, labels, kernel, decide. Automatic: the GPU where there is one.
/// preferred: where it is not automatic, it stands for the rule of few points. The library's run(), neighbors() and plan() of
/// points, the program and the Python package all choose by it. Pure.
[[nodiscard]] BackendChoice choose_backend(std::uint64_t n, std::size_t dims, const Space& space,
                                           const EngineOptions& engine, const RunOptions& run = {},
                                           BackendChoice preferred = BackendChoice::automatic) noexcept;
/// What the environment variable EPSFLOW_BACKEND prefers: cpu or gpu (few points, too); automatic where it is not set. Throws
/// UsageError where it is anything else.
[[nodiscard]] BackendChoice preferred_backend();

/// Throws UsageError, ResourceError as an engine with these options would: for a backend or a GPU that is not there.
void check_backend(const EngineOptions& options);

}  // namespace epsflow
