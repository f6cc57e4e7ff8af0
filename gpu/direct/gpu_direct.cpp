#include <epsflow/gpu/direct/gpu_direct.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include <epsflow/gpu/base/device.hpp>
#include <epsflow/gpu/base/nvtx.hpp>

namespace epsflow::gpu {
namespace {

using Clock = std::chrono::steady_clock;

/// Into host memory: while the labels of one variant cross the bus the next is clustered.
class ToHost final : public DirectClustering {
 public:
  ToHost(std::unique_ptr<DeviceClustering> clustering, const DevicePoints& points, double eps,
         const DirectOptions& options, const GpuResources& resources, std::shared_ptr<LabelMemory> memory)
      : n_(points.device().size),
        eps_(eps),
        minpts_(options.minpts.begin(), options.minpts.end()),
        core_mask_(options.core_mask),
        resources_(resources),
        label_memory_(std::move(memory)),
        clustering_(std::move(clustering)) {
    const std::size_t buffers = std::min<std::size_t>(minpts_.size(), buffers_.size());
    for (std::size_t b = 0; b < buffers; ++b) {
      buffers_[b].labels = {resources_.memory, copies_.get(), n_};
      if (core_mask_) buffers_[b].core = {resources_.memory, copies_.get(), n_};
    }
    copies_.synchronize();  // the clustering writes to them on a stream of its own
  }

  void run(const std::function<void(VariantResult&&)>& emit) override {
    const DeviceScope scope(resources_.device);
    std::optional<VariantResult> crossing;
    const StreamDrain drain(copies_);  // before the labels that are being copied go
    const auto hand_over = [&] {
      if (!crossing) return;
      copies_.synchronize();
      VariantResult result = *std::exchange(crossing, std::nullopt);
      emit(std::move(result));
    };
    for (std::size_t v = 0; v < minpts_.size(); ++v) {
      resources_.cancel.check();
      const Clock::time_point begin = Clock::now();
      Buffers& buffers = buffers_[v % buffers_.size()];
      VariantResult result{{eps_, minpts_[v]}, {}, {}, 0, {}};
      {
        const StageRange range(Stage::cluster_directly);
        result.summary =
            clustering_->cluster(minpts_[v], buffers.labels.data(), core_mask_ ? buffers.core.data() : nullptr);
      }
      result.labels = Labels(n_, label_memory_);
      if (core_mask_) result.core.resize(n_);
      result.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
      hand_over();  // one copy at a time, as each is waited for through its stream
      crossing = std::move(result);
      copy(crossing->labels.data(), buffers.labels);
      if (core_mask_) copy(crossing->core.data(), buffers.core);
    }
    hand_over();
  }

  [[nodiscard]] std::uint64_t open_pairs() const override { return clustering_->open_pairs(); }

 private:
  struct Buffers {
    DeviceBuffer<std::int32_t> labels;
    DeviceBuffer<std::uint8_t> core;
  };

  template <class T>
  void copy(T* to, const DeviceBuffer<T>& from) const {
    check(cudaMemcpyAsync(to, from.data(), from.bytes(), cudaMemcpyDeviceToHost, copies_.get()));
  }

  std::uint32_t n_;
  double eps_;
  std::vector<std::uint32_t> minpts_;
  bool core_mask_;
  GpuResources resources_;
  std::shared_ptr<LabelMemory> label_memory_;
  Stream copies_;
  std::array<Buffers, 2> buffers_;                // one is filled while the other is copied
  std::unique_ptr<DeviceClustering> clustering_;  // its stream writes to the buffers, and is drained when it goes
  StreamDrain drain_{copies_};                    // before the memory above goes
};

/// What stays on the device.
struct LabelsOnDevice {
  LabelsOnDevice(int device_number, std::shared_ptr<DeviceMemory> pool, std::uint32_t n, bool core_mask)
      : device(device_number),
        memory(std::move(pool)),
        labels(*memory, stream.get(), n),
        core(*memory, stream.get(), core_mask ? n : 0) {
    stream.synchronize();  // the clustering writes to them on a stream of its own
  }
  LabelsOnDevice(const LabelsOnDevice&) = delete;
  LabelsOnDevice& operator=(const LabelsOnDevice&) = delete;
  /// Whatever stream the caller had read them on, it has done so when they go.
  ~LabelsOnDevice() {
    try {
      const DeviceScope scope(device);
      (void)cudaDeviceSynchronize();
    } catch (const DeviceError&) {  // NOLINT(bugprone-empty-catch): the device has failed, and nothing reads them
    }
  }

  int device;
  std::shared_ptr<DeviceMemory> memory;
  Stream stream;
  DeviceBuffer<std::int32_t> labels;
  DeviceBuffer<std::uint8_t> core;
};

class ToDevice final : public DirectClustering {
 public:
  ToDevice(std::unique_ptr<DeviceClustering> clustering, const DevicePoints& points, double eps,
           const DirectOptions& options, const GpuResources& resources, std::shared_ptr<DeviceMemory> memory)
      : n_(points.device().size),
        eps_(eps),
        minpts_(options.minpts.begin(), options.minpts.end()),
        core_mask_(options.core_mask),
        resources_(resources),
        memory_(std::move(memory)),
        clustering_(std::move(clustering)) {}

  void run(const std::function<void(VariantResult&&)>& emit) override {
    const DeviceScope scope(resources_.device);
    for (const std::uint32_t minpts : minpts_) {
      resources_.cancel.check();
      const Clock::time_point begin = Clock::now();
      const auto kept = std::make_shared<LabelsOnDevice>(resources_.device, memory_, n_, core_mask_);
      VariantResult result{{eps_, minpts}, {}, {}, 0};
      {
        const StageRange range(Stage::cluster_directly);
        result.summary = clustering_->cluster(minpts, kept->labels.data(), kept->core.data());
      }
      result.device_labels = {kept, kept->labels.data(), n_, resources_.device};
      if (core_mask_) result.device_core = {kept, kept->core.data(), n_, resources_.device};
      result.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
      emit(std::move(result));
    }
  }
  [[nodiscard]] std::uint64_t open_pairs() const override { return clustering_->open_pairs(); }

 private:
  std::uint32_t n_;
  double eps_;
  std::vector<std::uint32_t> minpts_;
  bool core_mask_;
  GpuResources resources_;
  std::shared_ptr<DeviceMemory> memory_;
  std::unique_ptr<DeviceClustering> clustering_;
};

}  // namespace

std::unique_ptr<DirectClustering> make_gpu_direct(std::unique_ptr<DeviceClustering> clustering,
                                                  const DevicePoints& points, double eps, const DirectOptions& options,
                                                  const GpuResources& resources, LabelHomes homes) {
  if (options.labels == MemorySpace::device) {
    return std::make_unique<ToDevice>(std::move(clustering), points, eps, options, resources, std::move(homes.device));
  }
  return std::make_unique<ToHost>(std::move(clustering), points, eps, options, resources, std::move(homes.host));
}

}  // namespace epsflow::gpu
