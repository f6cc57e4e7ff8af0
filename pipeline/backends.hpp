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

/// The numbers of the GPUs that can be used, as EngineOptions::gpu counts them.
[[nodiscard]] std::vector<unsigned> usable_gpus();
/// Bytes of GPU memory that an engine with these options may hold; 0 where it would be on the CPU. Makes a context on a GPU where the options
/// leave it open. Throws UsageError, ResourceError for a GPU that is not there.
[[nodiscard]] std::uint64_t gpu_memory_of(const EngineOptions& options);

/// Chooses the backend for n points of `dims` dimensions in `space`. The first rule that applies decides:
///   1. EngineOptions::backend, if it is not automatic.
///   2. The CPU for powers of minkowski (not 1, 2 or infinity), which a GPU does not compute.
///   3. Automatic, if one of the options that are mostly for a GPU is not at its default: gpu, gpu_memory, labels, kernel, decide.
///   4. `preferred`, if it is not automatic. A preference for a GPU gives automatic.
///   5. The CPU, if the points are so few that it is done before a GPU has started (about a third of a second).
///   6. Automatic.
/// The result `automatic` means: a GPU where there is one, else the CPU. run(), run_each() of options (parts/sweep.hpp), neighbors() and plan() choose by this
/// function if they get points in place of a Dataset. So do the command line and the Python package. Pure.
[[nodiscard]] BackendChoice choose_backend(std::uint64_t n, std::size_t dims, const Space& space,
                                           const EngineOptions& engine, const RunOptions& run = {},
                                           BackendChoice preferred = BackendChoice::automatic) noexcept;
/// Reads the environment variable EPSFLOW_BACKEND, for `preferred` above. `cpu`: the CPU. `gpu`: a GPU if there is one, even for
/// few points. `auto`, empty or not set: automatic. Throws UsageError for anything else.
[[nodiscard]] BackendChoice preferred_backend();

/// Throws UsageError, ResourceError as an engine with these options would: for a backend or a GPU that is not there.
void check_backend(const EngineOptions& options);

}  // namespace epsflow
