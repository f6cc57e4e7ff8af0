#include <epsflow/gpu/gpu_backend.hpp>

#include <condition_variable>
#include <deque>
#include <limits>
#include <mutex>
#include <string>
#include <thread>

#include <epsflow/gpu/device.hpp>
#include <epsflow/gpu/gpu_search.hpp>
#include <epsflow/gpu/nvtx.hpp>
#include <epsflow/gpu/search_kernels.hpp>
#include <epsflow/gpu/tuning.hpp>

namespace epsflow::gpu {
namespace {

/// Scans and sorts of some CUDA versions count in 32 bits with a sign.
constexpr std::uint64_t kMostGpuPoints = std::numeric_limits<std::int32_t>::max() - 1;

/// A thread that may wait for the GPU, so that no thread of the task graph does. What is queued when it goes is done
/// first.
class Worker {
 public:
  Worker() : thread_([this](const std::stop_token& stop) { work(stop); }) {}

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
  std::jthread thread_;  // last: it uses the others
};

[[noreturn]] void throw_no_device(const DeviceList& list) {
  throw DeviceError("no GPU can be used (" + list.why_none + "): use Options::backend = BackendChoice::cpu");
}

/// The GPU asked for, or the one with the most free memory.
int choose_device(int wanted) {
  const DeviceList list = list_devices();
  if (list.devices.empty()) throw_no_device(list);
  if (wanted >= 0) {
    std::string known;
    for (const DeviceInfo& device : list.devices) {
      if (device.number == wanted) return wanted;
      known += (known.empty() ? "" : ", ") + std::to_string(device.number);
    }
    throw UsageError("Options::gpu is " + std::to_string(wanted) +
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
    } catch (const DeviceError&) {  // NOLINT(bugprone-empty-catch): in use by another process alone; there are others
    }
  }
  return best;
}

class GpuBackend final : public Backend {
 public:
  /// The GPU must be the current one.
  GpuBackend(int device, const GpuOptions& options)
      : device_(device), memory_(device, options.memory), pinner_(device, options.threads) {}

  [[nodiscard]] std::string_view name() const override { return "gpu"; }
  [[nodiscard]] unsigned lanes() const override { return tuning::kLanes; }
  [[nodiscard]] unsigned tables() const override { return tuning::kTables; }
  [[nodiscard]] std::uint64_t index_bytes(PointsView points) const override {
    // The order; and where an axis is cut at gaps, sorted coordinates and stretches.
    return points.size() * (4 + 8 + 16) + 4096;
  }

  [[nodiscard]] std::unique_ptr<Lane> make_lane() override {
    const DeviceScope scope(device_);
    return std::make_unique<GpuLane>(memory_, pinned_);
  }

  [[nodiscard]] std::unique_ptr<NeighborSearch> build_index(PointsView points, double eps,
                                                            const CancelToken& cancel) override {
    const DeviceScope scope(device_);
    const StageRange range(Stage::build_index);
    if (points.size() > kMostGpuPoints) {
      throw DeviceError(std::to_string(points.size()) + " points are more than the " + std::to_string(kMostGpuPoints) +
                        " that the GPU can index: use Options::backend = BackendChoice::cpu");
    }
    if (points_ == nullptr) {
      points_ = std::make_unique<DevicePoints>(points, memory_);
      uploaded_ = points;
    } else if (points.data() != uploaded_.data() || points.size() != uploaded_.size() ||
               points.dims() != uploaded_.dims() || points.precision() != uploaded_.precision()) {
      throw Error("a GPU backend holds one data set, and was asked for an index of another: make a backend for each");
    }
    return std::make_unique<GpuSearch>(*points_, eps, GpuSearch::Resources{device_, memory_, pinned_}, cancel);
  }

  void post(const std::function<void()>& task) override { worker_.post(task); }
  [[nodiscard]] PagePinner* pinner() noexcept override { return &pinner_; }

 private:
  int device_;
  DeviceMemory memory_;
  PinnedPool pinned_;
  TablePinner pinner_;
  std::unique_ptr<DevicePoints> points_;
  PointsView uploaded_;  ///< what points_ holds
  Worker worker_;
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
