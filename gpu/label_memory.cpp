#include <epsflow/gpu/label_memory.hpp>

#include <cuda_runtime_api.h>

#include <algorithm>

#include <epsflow/core/buffer.hpp>
#include <epsflow/core/checked.hpp>
#include <epsflow/gpu/device.hpp>
#include <epsflow/gpu/memory.hpp>

namespace epsflow::gpu {
namespace {

std::uint64_t bytes_of_labels(std::size_t n) {
  return std::max<std::uint64_t>(checked_multiply(n, sizeof(std::int32_t), "labels"), 1);
}

}  // namespace

PinnedLabels::~PinnedLabels() {
  for (const Block& block : idle_) drop(block);
}

std::int32_t* PinnedLabels::acquire(std::size_t n) {
  const std::uint64_t bytes = bytes_of_labels(n);
  Block block;
  {
    const std::scoped_lock lock(mutex_);
    used_.reserve(used_.size() + 1);
    const auto found = std::find_if(idle_.begin(), idle_.end(), [&](const Block& b) { return b.bytes == bytes; });
    if (found != idle_.end()) {
      block = *found;
      idle_.erase(found);
      idle_bytes_ -= bytes;
      used_.push_back(block);
      return static_cast<std::int32_t*>(block.data);
    }
  }
  block = make(bytes);
  const std::scoped_lock lock(mutex_);
  try {
    used_.push_back(block);
  } catch (...) {
    drop(block);
    throw;
  }
  return static_cast<std::int32_t*>(block.data);
}

void PinnedLabels::release(std::int32_t* labels, std::size_t) noexcept {
  const std::scoped_lock lock(mutex_);
  const auto found = std::find_if(used_.begin(), used_.end(), [&](const Block& b) { return b.data == labels; });
  if (found == used_.end()) return;
  const Block block = *found;
  used_.erase(found);
  if (idle_bytes_ + block.bytes > kMostIdle) return drop(block);
  try {
    idle_.push_back(block);
    idle_bytes_ += block.bytes;
  } catch (...) {  // no memory to remember it
    drop(block);
  }
}

PinnedLabels::Block PinnedLabels::make(std::uint64_t bytes) const {
  Block block{bytes, detail::aligned_allocate(bytes, 0), false};
  touch_pages(static_cast<std::byte*>(block.data), bytes, threads_);
  // Where the system refuses, copies work as well, only slower.
  try {
    const DeviceScope scope(device_);
    block.pinned = cudaHostRegister(block.data, bytes, cudaHostRegisterPortable) == cudaSuccess;
    if (!block.pinned) (void)cudaGetLastError();
  } catch (const DeviceError&) {  // NOLINT(bugprone-empty-catch): the copy will tell
  }
  return block;
}

void PinnedLabels::drop(const Block& block) noexcept {
  if (block.pinned && cudaHostUnregister(block.data) != cudaSuccess) (void)cudaGetLastError();
  detail::AlignedFree()(block.data);
}

}  // namespace epsflow::gpu
