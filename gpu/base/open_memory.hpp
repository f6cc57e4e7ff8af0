// Device memory that other processes of the machine open.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include <epsflow/gpu/base/error.hpp>
#include <epsflow/gpu/base/memory.hpp>

namespace epsflow::gpu {

/// An uninitialised block of the current GPU. Move-only. Other processes must close it before it is freed.
class OpenMemory {
 public:
  OpenMemory() = default;
  /// Throws as DeviceMemory::allocate_open().
  OpenMemory(DeviceMemory& memory, std::uint64_t bytes)
      : memory_(&memory), bytes_(bytes), data_(static_cast<std::byte*>(memory.allocate_open(bytes))) {}
  OpenMemory(OpenMemory&& other) noexcept { swap(other); }
  OpenMemory& operator=(OpenMemory&& other) noexcept {
    OpenMemory taken(std::move(other));
    swap(taken);
    return *this;
  }
  ~OpenMemory() {
    if (data_ != nullptr) memory_->free_open(data_, bytes_);
  }

  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  /// Returns the handle with which other processes open the memory. Throws DeviceError if the system refuses it.
  [[nodiscard]] cudaIpcMemHandle_t handle() const {
    cudaIpcMemHandle_t handle{};
    check(cudaIpcGetMemHandle(&handle, data_));
    return handle;
  }

 private:
  void swap(OpenMemory& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(bytes_, other.bytes_);
    std::swap(data_, other.data_);
  }

  DeviceMemory* memory_ = nullptr;
  std::uint64_t bytes_ = 0;
  std::byte* data_ = nullptr;
};

/// Memory of another process, opened on one GPU until the object is destroyed. Opening takes about 20 ms.
class OpenedMemory {
 public:
  /// device: the current GPU. data() is null if the memory cannot be reached from here, for example on another machine.
  OpenedMemory(const cudaIpcMemHandle_t& handle, int device) noexcept : device_(device) {
    if (cudaIpcOpenMemHandle(&data_, handle, cudaIpcMemLazyEnablePeerAccess) == cudaSuccess) return;
    (void)cudaGetLastError();
    data_ = nullptr;
  }
  OpenedMemory(const OpenedMemory&) = delete;
  OpenedMemory& operator=(const OpenedMemory&) = delete;
  ~OpenedMemory() {
    if (data_ == nullptr) return;
    int before = device_;
    (void)cudaGetDevice(&before);
    if (before != device_) (void)cudaSetDevice(device_);
    (void)cudaIpcCloseMemHandle(data_);
    if (before != device_) (void)cudaSetDevice(before);
  }

  [[nodiscard]] std::byte* data() const noexcept { return static_cast<std::byte*>(data_); }

 private:
  int device_;
  void* data_ = nullptr;
};

}  // namespace epsflow::gpu
