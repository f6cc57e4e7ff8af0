#include <epsflow/pipeline/backends.hpp>

#include <algorithm>
#include <cstdlib>
#include <string_view>

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

void check_gpu(const Options& options) { gpu::check_device(options.gpu); }

std::unique_ptr<Backend> make_gpu(const Options& options) {
  constexpr std::uint64_t kMostIdleLabels = 4_GiB;
  return gpu::make_gpu_backend({.device = options.gpu,
                                .memory = options.gpu_memory,
                                .threads = options.threads,
                                .idle_labels = std::min(kMostIdleLabels, options.memory / 8)});
}

#else

constexpr bool kGpuBuilt = false;

BackendInfo gpu_info() { return {"gpu", false, "not in this build (EPSFLOW_CUDA)", false}; }

void check_gpu(const Options&) {
  throw UsageError(
      "this build has no GPU backend: build with EPSFLOW_CUDA=ON, or use Options::backend = "
      "BackendChoice::cpu");
}

std::unique_ptr<Backend> make_gpu(const Options& options) {
  check_gpu(options);
  return nullptr;
}

#endif

}  // namespace

std::vector<BackendInfo> backends() {
  return {{"cpu", true, "vector instructions " + std::string(index::RowSearch::instruction_set()), true}, gpu_info()};
}

BackendChoice choose_backend(std::uint64_t n, std::size_t dims, const Space& space, const Options& options,
                             BackendChoice preferred) noexcept {
  if (options.backend != BackendChoice::automatic) return options.backend;
  if (space.norm == Norm::minkowski) return BackendChoice::cpu;
  // What a core computes in a third of a second, and more: most points need far fewer differences than all pairs of them have.
  constexpr double kFewDifferences = 1e9;
  const bool few = static_cast<double>(n) * static_cast<double>(n) / 2 * static_cast<double>(dims) <= kFewDifferences;
  const bool gpu_asked = options.gpu >= 0 || options.gpu_memory != 0 || options.kernel != Kernel::rows ||
                         options.decide != DecideChoice::automatic || options.labels == MemorySpace::device;
  if (gpu_asked || preferred == BackendChoice::gpu) return BackendChoice::automatic;
  return few || preferred == BackendChoice::cpu ? BackendChoice::cpu : BackendChoice::automatic;
}

BackendChoice preferred_backend() {
  const char* const word = std::getenv("EPSFLOW_BACKEND");
  const std::string_view name = word == nullptr ? "" : word;
  if (name.empty() || name == "auto") return BackendChoice::automatic;
  if (name == "cpu") return BackendChoice::cpu;
  if (name == "gpu") return BackendChoice::gpu;
  throw UsageError("the environment variable EPSFLOW_BACKEND is '" + std::string(name) +
                   "'; it is one of auto, cpu, gpu");
}

void check_backend(const Options& options) {
  if (options.backend == BackendChoice::gpu || (options.backend == BackendChoice::automatic && options.gpu >= 0)) {
    check_gpu(options);
  }
}

std::unique_ptr<Backend> make_backend(const Options& options, const std::function<void(const std::string&)>& notice) {
  check_backend(options);
  if (options.backend == BackendChoice::gpu) return make_gpu(options);
  if (options.backend == BackendChoice::automatic && kGpuBuilt) {
    std::string reason;
    const BackendInfo info = gpu_info();
    try {
      if (info.usable) return make_gpu(options);
      reason = "GPU: " + info.detail;
    } catch (const ResourceError& error) {
      if (options.gpu >= 0) throw;
      reason = error.what();
    }
    if (notice && info.present) notice("running on the CPU: " + reason);
  }
  return cpu::make_cpu_backend(options.threads);
}

}  // namespace epsflow
