// Device memory of results and points that outlive the objects that made them.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include <epsflow/gpu/base/device.hpp>
#include <epsflow/gpu/base/error.hpp>
#include <epsflow/gpu/base/memory.hpp>
#include <epsflow/gpu/base/stream.hpp>

namespace epsflow::gpu {

/// Memory of results or points that stay on the device. It is usable at once on any stream, and may outlive its engine.
class RetainedBlock {
 public:
  RetainedBlock(std::shared_ptr<DeviceMemory> memory, std::uint64_t bytes)
      : memory_(std::move(memory)), bytes_(*memory_, stream_.get(), bytes) {
    stream_.synchronize();  // others write to it on their own streams
  }
  RetainedBlock(const RetainedBlock&) = delete;
  RetainedBlock& operator=(const RetainedBlock&) = delete;
  /// Waits for the device, because the caller may have used any stream to read the memory.
  ~RetainedBlock() {
    try {
      const DeviceScope scope(device());
      (void)cudaDeviceSynchronize();
    } catch (const DeviceError&) {  // NOLINT(bugprone-empty-catch): the device has failed, and nothing reads them
    }
  }

  [[nodiscard]] int device() const noexcept { return stream_.device(); }
  [[nodiscard]] std::byte* data() const noexcept { return bytes_.data(); }
  [[nodiscard]] std::uint64_t size() const noexcept { return bytes_.size(); }

 private:
  std::shared_ptr<DeviceMemory> memory_;
  Stream stream_;
  DeviceBuffer<std::byte> bytes_;
};

}  // namespace epsflow::gpu
