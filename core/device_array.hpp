// Arrays in the memory of a GPU: points that a caller hands in, and labels that stay there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include <epsflow/core/points.hpp>

struct CUstream_st;  // the type that CUDA's cudaStream_t points to

namespace epsflow {

/// The GPU that holds points, and the stream that writes them.
struct DeviceStream {
  int device = 0;                 ///< the GPU that holds them, as CUDA counts
  CUstream_st* stream = nullptr;  ///< the cudaStream_t that writes them; null: the default stream
};

/// A data set in the memory of a CUDA device, owned by the caller. [device] [n × d], row-major, in the caller's unit.
class DevicePointsView {
 public:
  DevicePointsView() = default;
  /// data: [device] n · dims coordinates. Engine::load() waits for the work that is in the stream by then.
  /// Throws UsageError for sizes that PointsView refuses, and for a null pointer if n > 0.
  DevicePointsView(const float* data, std::size_t n, std::size_t dims, DeviceStream device_stream = {})
      : DevicePointsView(data, n, dims, Precision::float32, device_stream) {}
  DevicePointsView(const double* data, std::size_t n, std::size_t dims, DeviceStream device_stream = {})
      : DevicePointsView(data, n, dims, Precision::float64, device_stream) {}

  [[nodiscard]] const void* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t dims() const noexcept { return dims_; }
  [[nodiscard]] Precision precision() const noexcept { return precision_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return std::uint64_t{size_} * dims_ * bytes_of(precision_); }
  [[nodiscard]] int device() const noexcept { return device_stream_.device; }
  [[nodiscard]] CUstream_st* stream() const noexcept { return device_stream_.stream; }

 private:
  DevicePointsView(const void* data, std::size_t n, std::size_t dims, Precision precision, DeviceStream device_stream);

  const void* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t dims_ = 1;
  Precision precision_ = Precision::float64;
  DeviceStream device_stream_;
};

/// A finished array in the memory of a CUDA device: work on any stream may read it. Copies share the memory. So do
/// labels and masks of several variants of one eps. The memory is freed with the last DeviceArray that shares it, and
/// may outlive the engine that made it. Dropping the last one waits for all work of the device, as it may read the
/// array.
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
