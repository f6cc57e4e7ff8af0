#include <epsflow/gpu/direct/label_stores.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include <epsflow/clustering/dbscan.hpp>
#include <epsflow/gpu/base/device.hpp>
#include <epsflow/gpu/base/retained_block.hpp>
#include <epsflow/gpu/base/stream.hpp>

namespace epsflow::gpu {
namespace {

/// Copies labels to host memory. While the labels of one variant cross the bus, the next variant is clustered.
class CopiedLabels final : public LabelStore {
 public:
  CopiedLabels(std::uint32_t n, const DirectOptions& options, const LabelHomes& homes)
      : n_(n), core_mask_(options.core_mask), homes_(homes) {
    const std::size_t count = std::min(options.minpts.size(), buffers_.size());
    for (std::size_t r = 0; r < count; ++r) {
      buffers_[r].labels = {*homes.device, copies_.get(), n_};
      if (core_mask_) buffers_[r].core = {*homes.device, copies_.get(), n_};
    }
    copies_.synchronize();  // the clustering writes to them on its own stream
  }

  /// Allocates the host memory while the device works.
  LabelTarget next() override {
    DeviceLabelBuffers& buffers = buffers_[next_++ % buffers_.size()];
    buffers.result.labels = Labels(n_, homes_.host);
    if (core_mask_) buffers.result.core.resize(n_);
    return {buffers.labels.data(), buffers.core.data()};
  }
  void take(VariantResult&& result, const Emit& emit) override {
    const DeviceScope scope(copies_.device());
    DeviceLabelBuffers& buffers = buffers_[taken_++ % buffers_.size()];
    result.labels = std::move(buffers.result.labels);
    result.core = std::move(buffers.result.core);
    finish(emit);  // one copy at a time, because the wait is for the whole stream
    buffers.result = std::move(result);
    crossing_ = &buffers.result;
    copy(crossing_->labels.data(), buffers.labels);
    copy(crossing_->core.data(), buffers.core);
  }
  void finish(const Emit& emit) override {
    if (crossing_ == nullptr) return;
    copies_.synchronize();
    emit(std::move(*std::exchange(crossing_, nullptr)));
  }

 private:
  struct DeviceLabelBuffers {
    DeviceBuffer<std::int32_t> labels;
    DeviceBuffer<std::uint8_t> core;
    VariantResult result;  ///< the result whose labels are copied from here
  };

  template <class T>
  void copy(T* to, const DeviceBuffer<T>& from) const {
    check(cudaMemcpyAsync(to, from.data(), from.bytes(), cudaMemcpyDeviceToHost, copies_.get()));
  }

  std::uint32_t n_;
  bool core_mask_;
  LabelHomes homes_;
  Stream copies_;
  std::array<DeviceLabelBuffers, 2> buffers_;  // one is filled while the other is copied
  std::size_t next_ = 0;
  std::size_t taken_ = 0;
  VariantResult* crossing_ = nullptr;
  StreamDrain drain_{copies_};  // waits before the memory above is freed
};

/// Keeps labels on the device. Several variants share a block, which is freed with the last of their labels, because
/// allocating and freeing memory for each costs more than a small clustering.
class DeviceLabels final : public LabelStore {
 public:
  DeviceLabels(int device, std::uint32_t n, const DirectOptions& options, std::shared_ptr<DeviceMemory> memory)
      : device_(device),
        n_(n),
        core_mask_(options.core_mask),
        variants_(options.minpts.size()),
        labels_bytes_(aligned(std::uint64_t{n} * sizeof(std::int32_t))),
        each_(labels_bytes_ + (core_mask_ ? aligned(n) : 0)),
        memory_(std::move(memory)) {}

  LabelTarget next() override {
    const DeviceScope scope(device_);
    if (block_ == nullptr || block_->size() - used_ < each_) make_block();
    --variants_;
    std::byte* const at = block_->data() + std::exchange(used_, used_ + each_);
    buffers_.push_back({block_, at});
    return {labels_at(at), core_mask_ ? core_at(at) : nullptr};
  }
  void take(VariantResult&& result, const Emit& emit) override {
    const BufferInBlock buffer = std::move(buffers_.front());
    buffers_.erase(buffers_.begin());
    result.device_labels = {buffer.block, labels_at(buffer.at), n_, buffer.block->device()};
    if (core_mask_) result.device_core = {buffer.block, core_at(buffer.at), n_, buffer.block->device()};
    emit(std::move(result));
  }

 private:
  struct BufferInBlock {
    std::shared_ptr<RetainedBlock> block;
    std::byte* at;
  };

  static std::uint64_t aligned(std::uint64_t bytes) noexcept { return (bytes + 255) / 256 * 256; }
  [[nodiscard]] static std::int32_t* labels_at(std::byte* at) noexcept { return reinterpret_cast<std::int32_t*>(at); }
  [[nodiscard]] std::uint8_t* core_at(std::byte* at) const noexcept {
    return reinterpret_cast<std::uint8_t*>(at + labels_bytes_);
  }

  void make_block() {
    constexpr std::uint64_t kBlockBytes = 64ULL << 20;
    block_.reset();  // frees the old block before its replacement is allocated
    const std::uint64_t several =
        std::clamp<std::uint64_t>(kBlockBytes / std::max<std::uint64_t>(each_, 1), 1, variants_);
    try {
      block_ = std::make_shared<RetainedBlock>(memory_, several * each_);
    } catch (const DeviceOutOfMemory&) {
      if (several == 1) throw;
      block_ = std::make_shared<RetainedBlock>(memory_, each_);
    }
    used_ = 0;
  }

  int device_;
  std::uint32_t n_;
  bool core_mask_;
  std::uint64_t variants_;  ///< variants without a buffer so far
  std::uint64_t labels_bytes_;
  std::uint64_t each_;
  std::shared_ptr<DeviceMemory> memory_;
  std::shared_ptr<RetainedBlock> block_;
  std::uint64_t used_ = 0;  ///< bytes used of the block
  std::vector<BufferInBlock> buffers_;
};

}  // namespace

std::unique_ptr<LabelStore> make_label_store(int device, std::uint32_t n, const DirectOptions& options,
                                             LabelHomes homes) {
  if (!keeps_labels(options.keep)) return std::make_unique<clustering::NoLabels>();
  if (options.labels == MemorySpace::device)
    return std::make_unique<DeviceLabels>(device, n, options, std::move(homes.device));
  return std::make_unique<CopiedLabels>(n, options, homes);
}

}  // namespace epsflow::gpu
