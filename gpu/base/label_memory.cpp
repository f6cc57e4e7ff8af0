#include <epsflow/gpu/base/label_memory.hpp>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <utility>

#include <epsflow/gpu/base/device.hpp>
#include <epsflow/gpu/base/memory.hpp>

namespace epsflow::gpu {
PinnedLabels::~PinnedLabels() {
  for (LabelBlock& block : idle_) unpin(block);
}

std::int32_t* PinnedLabels::acquire(std::size_t n) {
  {
    const std::scoped_lock lock(mutex_);
    const auto found =
        std::find_if(idle_.begin(), idle_.end(), [&](const LabelBlock& b) { return b.labels.size() == n; });
    if (found != idle_.end()) {
      used_.push_back(std::move(*found));
      idle_.erase(found);
      idle_bytes_ -= used_.back().labels.bytes();
      return used_.back().labels.data();
    }
  }
  LabelBlock block = make(n);
  const std::scoped_lock lock(mutex_);
  idle_.reserve(idle_.size() + used_.size() + 1);  // so that release() cannot fail
  used_.push_back(std::move(block));
  return used_.back().labels.data();
}

void PinnedLabels::release(std::int32_t* labels) noexcept {
  const std::scoped_lock lock(mutex_);
  const auto found = std::find_if(used_.begin(), used_.end(), [&](LabelBlock& b) { return b.labels.data() == labels; });
  if (found == used_.end()) return;
  LabelBlock block = std::move(*found);
  used_.erase(found);
  // The block that has been idle longest has a size that is no longer requested.
  while (!idle_.empty() && idle_bytes_ + block.labels.bytes() > most_idle_) drop_oldest();
  if (block.labels.bytes() > most_idle_ || idle_.size() == idle_.capacity()) {
    unpin(block);
    return;
  }
  idle_bytes_ += block.labels.bytes();
  idle_.push_back(std::move(block));
}

void PinnedLabels::retire() noexcept {
  const std::scoped_lock lock(mutex_);
  most_idle_ = 0;
  while (!idle_.empty()) drop_oldest();
}

void PinnedLabels::drop_oldest() noexcept {
  unpin(idle_.front());
  idle_bytes_ -= idle_.front().labels.bytes();
  idle_.erase(idle_.begin());
}

PinnedLabels::LabelBlock PinnedLabels::make(std::size_t n) const {
  LabelBlock block{Buffer<std::int32_t>(n), false};
  touch_pages(reinterpret_cast<std::byte*>(block.labels.data()), block.labels.bytes(), threads_);
  if (n == 0) return block;
  // If the system refuses to pin the memory, copies work all the same, but slower.
  try {
    const DeviceScope scope(device_);
    block.pinned = cudaHostRegister(block.labels.data(), block.labels.bytes(), cudaHostRegisterPortable) == cudaSuccess;
    if (!block.pinned) (void)cudaGetLastError();
  } catch (const DeviceError&) {  // NOLINT(bugprone-empty-catch): the copy will report it
  }
  return block;
}

void PinnedLabels::unpin(LabelBlock& block) noexcept {
  if (block.pinned && cudaHostUnregister(block.labels.data()) != cudaSuccess) (void)cudaGetLastError();
}

}  // namespace epsflow::gpu
