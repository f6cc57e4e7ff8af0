#include <epsflow/gpu/gpu_backend.hpp>

#include <cuda_runtime_api.h>

#include <array>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include <epsflow/catalog/device_catalog.hpp>
#include <epsflow/clustering/device_window.hpp>
#include <epsflow/gpu/base/device.hpp>
#include <epsflow/gpu/base/device_arrays.hpp>
#include <epsflow/gpu/base/idle_memory.hpp>
#include <epsflow/gpu/base/label_memory.hpp>
#include <epsflow/gpu/base/nvtx.hpp>
#include <epsflow/gpu/base/tuning.hpp>
#include <epsflow/gpu/base/upload.hpp>
#include <epsflow/gpu/catalog/device_catalog.hpp>
#include <epsflow/gpu/direct/device_core.hpp>
#include <epsflow/gpu/gpu_index.hpp>
#include <epsflow/gpu/nearest/device_nearest.hpp>
#include <epsflow/gpu/parts/gpu_part.hpp>
#include <epsflow/gpu/tables/search_kernels.hpp>
#include <epsflow/gpu/trees/device_trees.hpp>
#include <epsflow/gpu/windows/gpu_window.hpp>
#include <epsflow/index/nearest.hpp>

namespace epsflow::gpu {
namespace {

/// Threads that may wait for the GPU instead of threads of the task graph. They finish queued tasks before they end.
class WaitingThreads {
 public:
  WaitingThreads() {
    for (std::jthread& thread : threads_) {
      thread = std::jthread([this](const std::stop_token& stop) { work(stop); });
    }
  }

  void post(std::function<void()> task) {
    {
      const std::scoped_lock lock(mutex_);
      tasks_.push_back(std::move(task));
    }
    wake_.notify_one();
  }

 private:
  void work(const std::stop_token& stop) {
    while (true) {
      std::function<void()> task;
      {
        std::unique_lock lock(mutex_);
        if (!wake_.wait(lock, stop, [this] { return !tasks_.empty(); })) return;
        task = std::move(tasks_.front());
        tasks_.pop_front();
      }
      task();
    }
  }

  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::deque<std::function<void()>> tasks_;
  std::array<std::jthread, 2> threads_;  // declared last because they use the other members
};

[[noreturn]] void throw_no_device(const DeviceList& list) {
  throw DeviceError("no GPU can be used (" + list.why_none + "): use EngineOptions::backend = BackendChoice::cpu");
}

/// Returns the requested GPU, or the one with the most free memory.
int choose_device(int wanted) {
  const DeviceList list = list_devices();
  if (list.devices.empty()) throw_no_device(list);
  if (wanted >= 0) {
    std::string known;
    for (const DeviceInfo& device : list.devices) {
      if (device.number == wanted) return wanted;
      known += (known.empty() ? "" : ", ") + std::to_string(device.number);
    }
    throw UsageError("EngineOptions::gpu is " + std::to_string(wanted) +
                     ", which is not there; the GPUs that can be used are " + known);
  }
  if (list.devices.size() == 1) return list.devices.front().number;
  int best = list.devices.front().number;
  std::uint64_t most = 0;
  for (const DeviceInfo& device : list.devices) {
    try {
      const std::uint64_t free = free_memory(device.number);
      if (free > most) {
        most = free;
        best = device.number;
      }
    } catch (const DeviceError&) {  // NOLINT(bugprone-empty-catch): another process uses it exclusively; others remain
    }
  }
  return best;
}

/// The GPU with the memory and streams cached on it.
struct GpuState {
  /// The GPU must be the current one.
  GpuState(int number, const GpuOptions& options)
      : device(number),
        threads(options.threads),
        memory(std::make_shared<DeviceMemory>(number, options.memory)),
        labels(std::make_shared<PinnedLabels>(number, options.threads, options.idle_labels)),
        idle(number, *memory) {}
  GpuState(const GpuState&) = delete;  // loaded points hold its address
  GpuState& operator=(const GpuState&) = delete;
  /// Labels may outlive the object.
  ~GpuState() {
    labels->retire();
    try {
      const DeviceScope scope(device);
      memory->retire();
    } catch (const DeviceError&) {  // NOLINT(bugprone-empty-catch): the device has failed, and its memory is gone
    }
  }

  int device;
  unsigned threads;
  std::shared_ptr<DeviceMemory> memory;
  PinnedPool pinned;
  std::shared_ptr<PinnedLabels> labels;
  StreamCache streams;
  IdleMemory idle;  // declared last because its thread uses the memory
};

struct DeviceUnits {
  DeviceUnits(DeviceMemory& memory, std::uint64_t size) : buffer(memory, stream.get(), size) { stream.synchronize(); }

  Stream stream;
  DeviceBuffer<std::int64_t> buffer;
};

class GpuPoints final : public LoadedPoints {
 public:
  /// In all constructors the GPU must be the current one.
  GpuPoints(PointsView points, GpuState& gpu, const Space& space)
      : LoadedPoints(points.size(), points.dims(), points.bytes(), space),
        gpu_(gpu),
        points_(points, gpu.device, *gpu.memory, gpu.pinned, gpu.threads, space) {}
  GpuPoints(const PointsSource& points, GpuState& gpu, const Space& space)
      : LoadedPoints(points.size, points.dims, points.bytes(), space),
        gpu_(gpu),
        points_(points, gpu.device, *gpu.memory, gpu.pinned, gpu.threads, space) {}
  GpuPoints(const DevicePointsView& points, GpuState& gpu, const Space& space)
      : LoadedPoints(points.size(), points.dims(), points.bytes(), space),
        gpu_(gpu),
        points_(points, *gpu.memory, space) {}

  [[nodiscard]] PointsView host() const override {
    const DeviceScope scope(gpu_.device);
    return points_.host();
  }
  [[nodiscard]] LoadedWeights load(WholeWeights weights) const override {
    (void)cudaGetLastError();  // clears an error of the caller's own work on this thread
    const DeviceScope scope(gpu_.device);
    auto units = std::make_shared<DeviceUnits>(*gpu_.memory, weights.size());
    upload(units->buffer.data(), weights.units().data(), weights.bytes(), {gpu_.device, gpu_.pinned, gpu_.threads});
    return {.whole = std::move(weights), .memory = units, .units = units->buffer.data()};
  }
  [[nodiscard]] std::uint64_t index_bytes(const IndexOptions&) const override {
    // Bytes of the order; and of sorted coordinates and stretches if an axis is cut at gaps.
    return size() * (4 + 8 + 16) + 4096;
  }
  [[nodiscard]] std::unique_ptr<Index> build_index(const IndexOptions& options,
                                                   const CancelToken& cancel) const override {
    const DeviceScope scope(gpu_.device);
    const StageRange range(Stage::build_index);
    return std::make_unique<GpuIndex>(points_, options, GpuResources{gpu_.device, *gpu_.memory, gpu_.pinned, cancel},
                                      LabelHomes{gpu_.labels, gpu_.memory});
  }
  void nearest_sums(std::span<const std::uint32_t> ks, double* sums, const CancelToken& cancel) const override {
    const DeviceScope scope(gpu_.device);
    if (serves_nearest(points_, ks)) {
      (void)cudaGetLastError();  // clears an error of the caller's own work on this thread
      const Stream stream;
      const DeviceBuffer<double> found(*gpu_.memory, stream.get(), std::uint64_t{size()} * ks.size());
      const StreamDrain drain(stream);  // waits before the memory is freed
      cancel.check();
      if (find_nearest(points_, ks, NearestForm::sums, found.data(), *gpu_.memory, stream)) {
        check(cudaMemcpyAsync(sums, found.data(), found.bytes(), cudaMemcpyDeviceToHost, stream.get()));
        stream.synchronize();
        return;
      }
    }
    index::nearest_sums(points_.host(), space(), ks, sums, cancel);
  }
  [[nodiscard]] std::uint64_t nearest_bytes() const override { return index::nearest_bytes(size(), dims()); }
  [[nodiscard]] bool make_trees(std::span<const std::uint32_t> minpts, bool as_eps, const CancelToken& cancel,
                                const std::function<void(HeldTree&)>& take) const override {
    (void)cudaGetLastError();  // clears an error of the caller's own work on this thread
    const DeviceScope scope(gpu_.device);
    return gpu::make_trees(points_, minpts, as_eps, {gpu_.device, *gpu_.memory, gpu_.pinned, cancel}, gpu_.memory,
                           take);
  }

 private:
  GpuState& gpu_;
  DevicePoints points_;
};

class GpuBackend final : public Backend, public DeviceCatalogs, public DeviceWindows {
 public:
  /// The GPU must be the current one.
  GpuBackend(int device, const GpuOptions& options) : gpu_(device, options), pinner_(device, options.threads) {}

  [[nodiscard]] std::string_view name() const override { return "gpu"; }
  [[nodiscard]] int device() const override { return gpu_.device; }
  [[nodiscard]] std::uint64_t device_memory() const override { return gpu_.memory->limit(); }
  [[nodiscard]] unsigned lanes() const override { return tuning::kLanes; }
  [[nodiscard]] unsigned groups() const override { return tuning::kTables; }

  [[nodiscard]] std::unique_ptr<LoadedPoints> load(PointsView points, const Space& space) override {
    require_known(space);
    return load_here(points, points.size(), space);
  }
  [[nodiscard]] std::unique_ptr<LoadedPoints> load(const PointsSource& source, const Space& space) override {
    require_known(space);
    return load_here(source, source.size, space);
  }
  [[nodiscard]] std::unique_ptr<LoadedPoints> load(const DevicePointsView& points, const Space& space) override {
    require_known(space);
    if (points.size() > 0) require_reachable(points);
    return load_here(points, points.size(), space);
  }

  [[nodiscard]] std::unique_ptr<DevicePart> hold(PointsView rows, std::size_t devices) override {
    require_indexable(rows.size());
    (void)cudaGetLastError();  // clears an error of the caller's own work on this thread
    const DeviceScope scope(gpu_.device);
    return std::make_unique<GpuPart>(
        rows, GpuPartResources{gpu_.device, gpu_.threads, gpu_.memory, gpu_.pinned, gpu_.labels, devices});
  }

  [[nodiscard]] std::unique_ptr<StoredCore> keep(const CoreInput& core, const CancelToken&) override {
    if (!DeviceCore::serves(core)) return nullptr;
    (void)cudaGetLastError();  // clears an error of the caller's own work on this thread
    const DeviceScope scope(gpu_.device);
    return std::make_unique<DeviceCore>(
        core, DeviceCoreHome{gpu_.device, gpu_.threads, *gpu_.memory, gpu_.pinned, gpu_.labels});
  }

  [[nodiscard]] Catalog catalog(const DeviceCatalogInput& input, const CancelToken& cancel) override {
    require_indexable(input.points.size());
    if (input.points.size() > 0) require_reachable(input.points);
    (void)cudaGetLastError();  // clears an error of the caller's own work on this thread
    const DeviceScope scope(gpu_.device);
    return make_catalog(input, {gpu_.device, gpu_.threads, *gpu_.memory, gpu_.pinned}, cancel);
  }

  [[nodiscard]] std::unique_ptr<DeviceWindow> make_window(std::size_t dims, std::size_t variants) override {
    const DeviceScope scope(gpu_.device);
    return std::make_unique<GpuWindow>(
        dims, variants, GpuWindowResources{gpu_.device, gpu_.threads, *gpu_.memory, gpu_.pinned, gpu_.labels});
  }

  /// While one worker waits for its labels, kernels of the other run.
  void post(const std::function<void()>& task) override { workers_.post(task); }
  [[nodiscard]] PagePinner* pinner() noexcept override { return &pinner_; }

 private:
  template <class View>
  [[nodiscard]] std::unique_ptr<LoadedPoints> load_here(const View& points, std::size_t size, const Space& space) {
    require_indexable(size);
    (void)cudaGetLastError();  // clears an error of the caller's own work on this thread
    const DeviceScope scope(gpu_.device);
    return std::make_unique<GpuPoints>(points, gpu_, space);
  }

  static void require_known(const Space& space) {
    if (space.norm != Norm::minkowski) return;
    throw UsageError(
        "powers of minkowski are those of the CPU, which a GPU computes otherwise: use EngineOptions::backend = "
        "BackendChoice::cpu, or p = 1, 2 or infinity");
  }
  static void require_indexable(std::size_t n) {
    if (n <= kMostGpuPoints) return;
    throw DeviceError(std::to_string(n) + " points are more than the " + std::to_string(kMostGpuPoints) +
                      " that the GPU can index: use EngineOptions::backend = BackendChoice::cpu");
  }

  /// A kernel that reads unreachable memory ends all work of the process on the GPU.
  void require_reachable(const DevicePointsView& points) const {
    const std::optional<int> device = gpu_of(points.data(), points.device());
    if (!device) throw UsageError("the points are not in the memory of a GPU: hand them over as a PointsView");
    if (*device != gpu_.device || points.device() != gpu_.device) {
      throw UsageError("the points are on GPU " + std::to_string(*device) + ", said to be on GPU " +
                       std::to_string(points.device()) + ", and the engine works on GPU " +
                       std::to_string(gpu_.device) + ": make it with EngineOptions::gpu = " + std::to_string(*device));
    }
  }

  GpuState gpu_;
  TablePinner pinner_;
  WaitingThreads workers_;  // declared last because their tasks use the other members
};

}  // namespace

void check_device(int wanted) {
  if (wanted >= 0) {
    (void)choose_device(wanted);
  } else if (const DeviceList list = list_devices(); list.devices.empty()) {
    throw_no_device(list);
  }
}

std::unique_ptr<Backend> make_gpu_backend(const GpuOptions& options) {
  const int device = choose_device(options.device);
  const DeviceScope scope(device);
  require_code();
  return std::make_unique<GpuBackend>(device, options);
}

}  // namespace epsflow::gpu
