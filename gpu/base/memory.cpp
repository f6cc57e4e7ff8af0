#include <epsflow/gpu/base/memory.hpp>

#include <algorithm>
#include <string>
#include <thread>

#include <epsflow/core/format.hpp>
#include <epsflow/gpu/base/device.hpp>
#include <epsflow/gpu/base/error.hpp>
#include <epsflow/gpu/base/fault.hpp>

namespace epsflow::gpu {

DeviceMemory::DeviceMemory(int device, std::uint64_t limit)
    : device_(device), limit_(limit > 0 ? limit : free_memory(device) / 10 * 9) {
  int supported = 0;
  check(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, device));
  if (supported == 0) return;  // some virtual GPUs have only plain allocations
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = device;
  check(cudaMemPoolCreate(&pool_, &properties));
  std::uint64_t keep = limit_;
  check(cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &keep));
}

DeviceMemory::~DeviceMemory() {
  if (pool_ != nullptr) (void)cudaMemPoolDestroy(pool_);
}

bool DeviceMemory::reachable_from(int device) {
  const std::scoped_lock lock(linking_);
  const auto [known, first] = linked_.emplace(device, false);
  if (!first) return known->second;
  int can = 0;
  check(cudaDeviceCanAccessPeer(&can, device, device_));
  if (can == 0 || pool_ == nullptr) return false;
  cudaMemAccessDesc access{};
  access.location.type = cudaMemLocationTypeDevice;
  access.location.id = device;
  access.flags = cudaMemAccessFlagsProtReadWrite;
  known->second = cudaMemPoolSetAccess(pool_, &access, 1) == cudaSuccess;
  (void)cudaGetLastError();  // if it failed, copies go through the host
  return known->second;
}

void DeviceMemory::retire() noexcept {
  if (pool_ == nullptr) return;
  std::uint64_t keep = 0;
  (void)cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &keep);
  (void)cudaDeviceSynchronize();
  give_back();
}

void DeviceMemory::give_back() noexcept {
  if (pool_ != nullptr) (void)cudaMemPoolTrimTo(pool_, 0);
}

void DeviceMemory::wake() noexcept {
  uses_.fetch_add(1);
  uses_.notify_all();
}

std::uint64_t DeviceMemory::available() const noexcept {
  const std::uint64_t used = this->used();
  return used < limit_ ? limit_ - used : 0;
}

template <class Allocate>
void* DeviceMemory::counted(std::uint64_t bytes, Allocate&& allocate) {
  wake();
  std::uint64_t before = used();
  do {
    if (before > limit_ || bytes > limit_ - before) {
      throw DeviceOutOfMemory(
          "the GPU needs " + format_bytes(bytes) + " more; of the limit of " + format_bytes(limit_) + ", " +
          format_bytes(before) +
          " are taken: raise EngineOptions::gpu_memory, or use EngineOptions::backend = BackendChoice::cpu");
    }
  } while (!used_.compare_exchange_weak(before, before + bytes, std::memory_order_relaxed));
  try {
    check(injected_fault(FaultPoint::allocation));
    void* const memory = allocate();
    check(cudaGetLastError());
    const std::uint64_t now = before + bytes;
    for (std::uint64_t most = most_used(); most < now && !most_used_.compare_exchange_weak(most, now);) {
    }
    return memory;
  } catch (...) {
    used_.fetch_sub(bytes, std::memory_order_relaxed);
    throw;
  }
}

void* DeviceMemory::allocate(std::uint64_t bytes, cudaStream_t stream) {
  return counted(bytes, [&] {
    void* memory = nullptr;
    if (pool_ == nullptr) {
      check(cudaMalloc(&memory, bytes));
    } else if (cudaMallocFromPoolAsync(&memory, bytes, pool_, stream) == cudaErrorMemoryAllocation) {
      // The free memory of the pool may be in pieces that are too small.
      (void)cudaGetLastError();
      check(cudaMemPoolTrimTo(pool_, 0));
      check(cudaMallocFromPoolAsync(&memory, bytes, pool_, stream));
    }
    return memory;
  });
}

void* DeviceMemory::allocate_open(std::uint64_t bytes) {
  return counted(bytes, [&] {
    void* memory = nullptr;
    if (cudaMalloc(&memory, bytes) == cudaErrorMemoryAllocation) {
      // The pool may hold the memory that is missing.
      (void)cudaGetLastError();
      check(cudaDeviceSynchronize());
      give_back();
      check(cudaMalloc(&memory, bytes));
    }
    return memory;
  });
}

void DeviceMemory::free_open(void* memory, std::uint64_t bytes) noexcept {
  (void)cudaFree(memory);
  used_.fetch_sub(bytes, std::memory_order_relaxed);
  wake();
}

void DeviceMemory::free(void* memory, std::uint64_t bytes, cudaStream_t stream) noexcept {
  (void)(pool_ != nullptr ? cudaFreeAsync(memory, stream) : cudaFree(memory));
  used_.fetch_sub(bytes, std::memory_order_relaxed);
  wake();
}

PinnedBytes::~PinnedBytes() {
  if (data_ != nullptr) pool_->give_back(data_, size_);
}

PinnedPool::~PinnedPool() {
  for (const auto& [size, data] : idle_) (void)cudaFreeHost(data);
}

PinnedBytes PinnedPool::acquire(std::uint64_t bytes) {
  constexpr std::uint64_t kSmallest = 4096;
  {
    const std::scoped_lock lock(mutex_);
    auto best = idle_.end();
    for (auto it = idle_.begin(); it != idle_.end(); ++it) {
      if (it->first >= bytes && (best == idle_.end() || it->first < best->first)) best = it;
    }
    // Memory that is far too large is left for larger requests.
    if (best != idle_.end() && best->first <= 2 * std::max(bytes, kSmallest)) {
      const auto [size, data] = *best;
      idle_.erase(best);
      return {this, data, size};
    }
  }
  const std::uint64_t size = (std::max(bytes, kSmallest) + kSmallest - 1) / kSmallest * kSmallest;
  void* data = nullptr;
  if (cudaHostAlloc(&data, size, cudaHostAllocDefault) != cudaSuccess) {
    (void)cudaGetLastError();
    throw DeviceError(
        "the system refuses " + format_bytes(size) +
        " of pinned host memory: raise ulimit -l or the container's memory, or use EngineOptions::backend = "
        "BackendChoice::cpu");
  }
  return {this, data, size};
}

void PinnedPool::give_back(void* data, std::uint64_t size) noexcept {
  const std::scoped_lock lock(mutex_);
  try {
    idle_.emplace_back(size, data);
  } catch (...) {  // no memory to store the entry
    (void)cudaFreeHost(data);
  }
}

namespace {

/// Calls f(piece) for the pieces in [0, count), on up to `threads` threads.
template <class F>
void for_each_piece(std::uint64_t count, unsigned threads, F f) {
  std::atomic<std::uint64_t> next{0};
  const auto work = [&] {
    for (std::uint64_t i = next++; i < count; i = next++) f(i);
  };
  std::vector<std::jthread> helpers;
  try {
    const std::uint64_t wanted = std::min<std::uint64_t>(threads, count / 2);
    for (std::uint64_t i = 1; i < wanted; ++i) helpers.emplace_back(work);
  } catch (...) {  // NOLINT(bugprone-empty-catch): fewer threads, or none, do it as well
  }
  work();
}

}  // namespace

void TablePinner::pin(std::byte* begin, std::uint64_t bytes) noexcept {
  constexpr std::uint64_t kPage = 4096;
  for_each_piece(bytes / kPiece, threads_, [&](std::uint64_t i) {
    std::byte* const piece = begin + i * kPiece;
    for (std::uint64_t at = 0; at < kPiece; at += kPage) piece[at] = std::byte{0};
    int before = device_;
    (void)cudaGetDevice(&before);
    if (cudaSetDevice(device_) != cudaSuccess ||
        cudaHostRegister(piece, kPiece, cudaHostRegisterPortable) != cudaSuccess) {
      (void)cudaGetLastError();
    }
    if (before != device_) (void)cudaSetDevice(before);
  });
}

void touch_pages(std::byte* begin, std::uint64_t bytes, unsigned threads) noexcept {
  constexpr std::uint64_t kPage = 4096;
  constexpr std::uint64_t kStretch = 4ULL << 20;
  for_each_piece((bytes + kStretch - 1) / kStretch, threads, [&](std::uint64_t i) {
    for (std::uint64_t at = i * kStretch; at < std::min(bytes, (i + 1) * kStretch); at += kPage)
      begin[at] = std::byte{0};
  });
}

void TablePinner::unpin(std::byte* begin, std::uint64_t bytes) noexcept {
  for_each_piece(bytes / kPiece, threads_, [&](std::uint64_t i) {
    if (cudaHostUnregister(begin + i * kPiece) != cudaSuccess) (void)cudaGetLastError();
  });
}

void copy_to_table(void* to, const void* from, std::uint64_t bytes, cudaStream_t stream) {
  auto* target = static_cast<std::byte*>(to);
  const auto* source = static_cast<const std::byte*>(from);
  while (bytes > 0) {
    const std::uint64_t left = PagePinner::kPiece - reinterpret_cast<std::uintptr_t>(target) % PagePinner::kPiece;
    const std::uint64_t part = std::min(bytes, left);
    check(cudaMemcpyAsync(target, source, part, cudaMemcpyDeviceToHost, stream));
    target += part;
    source += part;
    bytes -= part;
  }
}

}  // namespace epsflow::gpu
