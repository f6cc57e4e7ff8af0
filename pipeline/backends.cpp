#include <epsflow/pipeline/backends.hpp>

#include <epsflow/core/error.hpp>
#include <epsflow/index/cpu_backend.hpp>
#include <epsflow/index/row_search.hpp>
#ifdef EPSFLOW_WITH_CUDA
#include <epsflow/gpu/device.hpp>
#include <epsflow/gpu/gpu_backend.hpp>
#endif

namespace epsflow {
namespace {

#ifdef EPSFLOW_WITH_CUDA

BackendInfo gpu_info() {
  const gpu::DeviceList list = gpu::list_devices();
  BackendInfo info{"gpu", !list.devices.empty(), "none can be used (" + list.why_none + ")"};
  if (info.usable) info.detail.clear();
  for (const gpu::DeviceInfo& device : list.devices) {
    info.detail += (info.detail.empty() ? "" : "; ") + std::to_string(device.number) + ": " + device.name +
                   ", compute capability " + device.compute_capability + ", " +
                   std::to_string(device.memory >> 20) + " MiB";
  }
  return info;
}

std::unique_ptr<Backend> make_gpu(const Options& options, unsigned threads) {
  return gpu::make_gpu_backend({.device = options.gpu, .memory = options.gpu_memory, .threads = threads});
}

#else

BackendInfo gpu_info() { return {"gpu", false, "not in this build (EPSFLOW_CUDA)"}; }

std::unique_ptr<Backend> make_gpu(const Options&, unsigned) {
  throw UsageError("this build has no GPU backend: build with EPSFLOW_CUDA=ON, or use --backend cpu");
}

#endif

}  // namespace

std::vector<BackendInfo> backends() {
  return {{"cpu", true, "vector instructions " + std::string(index::RowSearch::instruction_set())}, gpu_info()};
}

std::unique_ptr<Backend> make_backend(const Options& options, unsigned threads,
                                      const std::function<void(const std::string&)>& notice) {
  if (options.backend == BackendChoice::gpu) return make_gpu(options, threads);
  if (options.backend == BackendChoice::automatic) {
    const BackendInfo info = gpu_info();
    if (info.usable) {
      try {
        return make_gpu(options, threads);
      } catch (const ResourceError& error) {
        if (notice) notice(std::string("running on the CPU: ") + error.what());
      }
    } else if (options.gpu >= 0) {
      throw UsageError("--gpu " + std::to_string(options.gpu) + ": GPUs: " + info.detail);
    } else if (notice) {
      notice("running on the CPU: GPUs: " + info.detail);
    }
  }
  return index::make_cpu_backend(threads);
}

}  // namespace epsflow
