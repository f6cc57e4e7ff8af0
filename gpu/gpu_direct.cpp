#include <epsflow/gpu/gpu_direct.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include <epsflow/gpu/device.hpp>
#include <epsflow/gpu/nvtx.hpp>

namespace epsflow::gpu {
namespace {

using Clock = std::chrono::steady_clock;

class GpuDirect final : public DirectClustering {
 public:
  GpuDirect(std::unique_ptr<DeviceClustering> clustering, const DevicePoints& points, double eps,
            std::span<const std::uint32_t> minpts, bool core_mask, const GpuResources& resources,
            std::shared_ptr<LabelMemory> memory)
      : n_(points.device().size),
        eps_(eps),
        minpts_(minpts.begin(), minpts.end()),
        core_mask_(core_mask),
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

}  // namespace

std::unique_ptr<DirectClustering> make_gpu_direct(const DevicePoints& points, double eps,
                                                  std::shared_ptr<const DeviceGrid> grid,
                                                  std::span<const std::uint32_t> minpts, bool core_mask,
                                                  const GpuResources& resources, std::shared_ptr<LabelMemory> memory) {
  return std::make_unique<GpuDirect>(
      make_device_clustering(points, eps, minpts.front(), minpts.back(), resources.memory, resources.pinned,
                             resources.cancel, std::move(grid)),
      points, eps, minpts, core_mask, resources, std::move(memory));
}

}  // namespace epsflow::gpu
