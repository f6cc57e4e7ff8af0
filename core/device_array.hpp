// Arrays in the memory of a GPU: points that a caller hands in, and labels that stay there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include <epsflow/core/points.hpp>

namespace epsflow {

/// A data set in the memory of a CUDA device that somebody else owns. [device] [n × d], row-major, in the caller's unit.
class DevicePointsView {
 public:
  DevicePointsView() = default;
  /// data: [device] n · dims coordinates. device: the GPU that holds them, as CUDA counts. stream: the cudaStream_t that writes
  /// them, or null for the default stream; Engine::load() waits for the work that this stream has by then. Throws UsageError for
  /// sizes that PointsView refuses, and for a null pointer where n > 0.
  DevicePointsView(const float* data, std::size_t n, std::size_t dims, int device = 0, void* stream = nullptr)
      : DevicePointsView(data, n, dims, Precision::float32, device, stream) {}
  DevicePointsView(const double* data, std::size_t n, std::size_t dims, int device = 0, void* stream = nullptr)
      : DevicePointsView(data, n, dims, Precision::float64, device, stream) {}

  [[nodiscard]] const void* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t dims() const noexcept { return dims_; }
  [[nodiscard]] Precision precision() const noexcept { return precision_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return std::uint64_t{size_} * dims_ * bytes_of(precision_); }
  [[nodiscard]] int device() const noexcept { return device_; }
  [[nodiscard]] void* stream() const noexcept { return stream_; }

 private:
  DevicePointsView(const void* data, std::size_t n, std::size_t dims, Precision precision, int device, void* stream);

  const void* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t dims_ = 1;
  Precision precision_ = Precision::float64;
  int device_ = 0;
  void* stream_ = nullptr;
};

/// A finished array in the memory of a CUDA device: work on any stream may read it. Copies share the memory. So do the labels and
/// the mask of one variant. The memory is freed with the last DeviceArray that shares it, and may outlive the engine that made it.
/// Dropping the last one waits for all work of the device, because some of it may still read the array.
template <class T>
class DeviceArray {
 public:
  DeviceArray() = default;
  DeviceArray(std::shared_ptr<const void> owner, T* data, std::size_t size, int device) noexcept
      : owner_(std::move(owner)), data_(data), size_(size), device_(device) {}

  [[nodiscard]] T* data() const noexcept { return data_; }  ///< [device] [size]
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] int device() const noexcept { return device_; }  ///< as CUDA counts

 private:
  std::shared_ptr<const void> owner_;
  T* data_ = nullptr;
  std::size_t size_ = 0;
  int device_ = 0;
};

}  // namespace epsflow
