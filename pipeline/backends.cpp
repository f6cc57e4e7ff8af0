#include <epsflow/pipeline/backends.hpp>

#include <algorithm>

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
