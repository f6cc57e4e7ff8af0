#include <epsflow/pipeline/backends.hpp>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include <epsflow/core/checked.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/cpu/cpu_backend.hpp>
#include <epsflow/index/row_search.hpp>
#include <epsflow/pipeline/make_backend.hpp>
#ifdef EPSFLOW_WITH_CUDA
#include <epsflow/gpu/base/device.hpp>
#include <epsflow/gpu/gpu_backend.hpp>
#endif

namespace epsflow {
namespace {

#ifdef EPSFLOW_WITH_CUDA

constexpr bool kGpuBuilt = true;

BackendInfo gpu_info() {
  const gpu::DeviceList list = gpu::list_devices();
  BackendInfo info{"gpu", !list.devices.empty(), "none can be used (" + list.why_none + ")", list.present};
  if (info.usable) info.detail.clear();
  for (const gpu::DeviceInfo& device : list.devices) {
    info.detail += (info.detail.empty() ? "" : "; ") + std::to_string(device.number) + ": " + device.name +
                   ", compute capability " + device.compute_capability + ", " + std::to_string(device.memory >> 20) +
                   " MiB";
  }
  return info;
}

std::vector<unsigned> gpus_found() {
  std::vector<unsigned> numbers;
  for (const gpu::DeviceInfo& device : gpu::list_devices().devices) numbers.push_back(narrow<unsigned>(device.number));
  return numbers;
}

std::uint64_t free_memory_of(unsigned gpu) { return gpu::free_memory(narrow<int>(gpu)); }

/// Returns the device number of CUDA; -1: any device.
int device_number(const EngineOptions& options) { return options.gpu ? narrow<int>(*options.gpu) : -1; }

void check_gpu(const EngineOptions& options) { gpu::check_device(device_number(options)); }

std::unique_ptr<Backend> make_gpu(const EngineOptions& options) {
  constexpr std::uint64_t kMostIdleLabels = 8_GiB;
  return gpu::make_gpu_backend({.device = device_number(options),
                                .memory = options.gpu_memory,
                                .threads = options.threads,
                                .idle_labels = std::min(kMostIdleLabels, options.memory / 8)});
}

#else

constexpr bool kGpuBuilt = false;

BackendInfo gpu_info() { return {"gpu", false, "not in this build (EPSFLOW_CUDA)", false}; }

std::vector<unsigned> gpus_found() { return {}; }
std::uint64_t free_memory_of(unsigned) { return 0; }

void check_gpu(const EngineOptions&) {
  throw UsageError(
      "this build has no GPU backend: build with EPSFLOW_CUDA=ON, or use EngineOptions::backend = "
      "BackendChoice::cpu");
}

std::unique_ptr<Backend> make_gpu(const EngineOptions& options) {
  check_gpu(options);
  return nullptr;
}

#endif

}  // namespace

std::vector<BackendInfo> backends() {
  return {{"cpu", true, "vector instructions " + std::string(index::RowSearch::instruction_set()), true}, gpu_info()};
}

std::vector<unsigned> usable_gpus() { return gpus_found(); }

std::uint64_t gpu_memory_of(const EngineOptions& options) {
  if (options.backend == BackendChoice::cpu) return 0;
  check_backend(options);
  const std::vector<unsigned> gpus = options.gpu ? std::vector{*options.gpu} : usable_gpus();
  if (options.gpu_memory != 0 && !gpus.empty()) return options.gpu_memory;
  std::uint64_t most = 0;
  for (const unsigned gpu : gpus) {
    try {
      most = std::max(most, free_memory_of(gpu) / 10 * 9);
    } catch (const ResourceError&) {  // an engine then uses another GPU, or the CPU
      if (options.backend == BackendChoice::gpu || options.gpu) throw;
    }
  }
  return most;
}

BackendChoice choose_backend(std::uint64_t n, std::size_t dims, const Space& space, const EngineOptions& engine,
                             const RunOptions& run, BackendChoice preferred) noexcept {
  if (engine.backend != BackendChoice::automatic) return engine.backend;
  if (space.norm == Norm::minkowski) return BackendChoice::cpu;
  // Differences that a core computes in a third of a second, or more: most points need far fewer than all pairs.
  constexpr double kFewDifferences = 1e9;
  const bool few = static_cast<double>(n) * static_cast<double>(n) / 2 * static_cast<double>(dims) <= kFewDifferences;
  const bool gpu_wanted = engine.gpu || engine.gpu_memory != 0 || run.labels == MemorySpace::device ||
                          run.search.kernel != Kernel::rows || run.search.decide != DecideChoice::automatic;
  if (gpu_wanted || preferred == BackendChoice::gpu) return BackendChoice::automatic;
  return few || preferred == BackendChoice::cpu ? BackendChoice::cpu : BackendChoice::automatic;
}

BackendChoice preferred_backend() {
  const char* const word = std::getenv("EPSFLOW_BACKEND");
  const std::string_view name = word == nullptr ? "" : word;
  if (name.empty()) return BackendChoice::automatic;
  if (const auto backend = choice_of<BackendChoice>(name)) return *backend;
  throw UsageError("the environment variable EPSFLOW_BACKEND is '" + std::string(name) +
                   "'; it is one of auto, cpu, gpu");
}

void check_backend(const EngineOptions& options) {
  if (options.backend == BackendChoice::gpu || (options.backend == BackendChoice::automatic && options.gpu)) {
    check_gpu(options);
  }
}

std::unique_ptr<Backend> make_backend(const EngineOptions& options,
                                      const std::function<void(const std::string&)>& notice) {
  check_backend(options);
  if (options.backend == BackendChoice::gpu) return make_gpu(options);
  if (options.backend == BackendChoice::automatic && kGpuBuilt) {
    std::string reason;
    const BackendInfo info = gpu_info();
    try {
      if (info.usable) return make_gpu(options);
      reason = "GPU: " + info.detail;
    } catch (const ResourceError& error) {
      if (options.gpu) throw;
      reason = error.what();
    }
    if (notice && info.present) notice("running on the CPU: " + reason);
  }
  return cpu::make_cpu_backend(options.threads);
}

}  // namespace epsflow
