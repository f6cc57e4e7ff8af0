// Lists the backends, chooses one for a data set, and checks whether the requested one can be used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <epsflow/core/space.hpp>
#include <epsflow/pipeline/options.hpp>

namespace epsflow {

/// A backend, and its state on this machine.
struct BackendInfo {
  std::string name;     ///< "cpu" or "gpu"
  bool usable = true;   ///< true if an engine can run on it
  std::string detail;   ///< the instruction set or the GPUs; the reason if it cannot be used
  bool present = true;  ///< true if this build finds such a device in the machine, usable or not
};
/// Returns two entries: the CPU, then the GPU backend, for all GPUs together. A build without that backend returns it
/// as not usable.
[[nodiscard]] std::vector<BackendInfo> backends();

/// Returns the numbers of the GPUs that can be used, as EngineOptions::gpu counts them.
[[nodiscard]] std::vector<unsigned> usable_gpus();
/// Returns the bytes of GPU memory that an engine with these options may hold: gpu_memory, or nine tenths of the
/// largest free memory if it is 0; 0 if the engine would run on the CPU. If gpu_memory is 0, makes a context on each
/// GPU that the engine may use, to find the largest free memory. Throws UsageError, ResourceError if a requested GPU
/// cannot be used.
[[nodiscard]] std::uint64_t gpu_memory_of(const EngineOptions& options);

/// Chooses the backend for n points of `dims` dimensions in `space`. The first rule that applies decides:
///   1. EngineOptions::backend, if it is not automatic.
///   2. The CPU for powers of minkowski (not 1, 2 or infinity), which a GPU does not compute.
///   3. Automatic, if gpu, gpu_memory, labels, kernel or decide, options mostly for a GPU, is not at its default.
///   4. `preferred`, if it is not automatic. A preference for a GPU gives automatic.
///   5. The CPU, if the points are so few that it is done before a GPU has started (about a third of a second).
///   6. Automatic.
/// The result `automatic` means: a GPU if there is one, else the CPU. run(), neighbors(), plan() and other functions of
/// points with EngineOptions choose by this function, unless the points are a Dataset. So do the program and the Python
/// package. Pure.
[[nodiscard]] BackendChoice choose_backend(std::uint64_t n, std::size_t dims, const Space& space,
                                           const EngineOptions& engine, const RunOptions& run = {},
                                           BackendChoice preferred = BackendChoice::automatic) noexcept;
/// Returns the value of the environment variable EPSFLOW_BACKEND, for `preferred` above. `cpu`: the CPU. `gpu`: a GPU
/// if there is one, even for few points. `auto`, empty or not set: automatic. Throws UsageError for any other value.
[[nodiscard]] BackendChoice preferred_backend();

/// Throws UsageError, ResourceError as an engine with these options would: for a backend or a GPU that is not present.
void check_backend(const EngineOptions& options);

}  // namespace epsflow
