// What benchmarks of GPU kernels share.
#pragma once

#include <cstdint>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include <epsflow/core/cancel.hpp>
#include <epsflow/gpu/base/memory.hpp>
#include <epsflow/gpu/base/stream.hpp>
#include <epsflow/gpu/grid/device_points.hpp>

#include "bench.hpp"

namespace epsflow::bench {

/// The memory of GPU 0, and a stream.
struct Device {
  gpu::StreamCache streams = {};
  gpu::DeviceMemory memory{0, 0};
  gpu::PinnedPool pinned = {};
  CancelToken cancel = {};
  gpu::Stream stream = {};

  [[nodiscard]] gpu::DevicePoints load(PointsView points) {
    return {points, 0, memory, pinned, std::thread::hardware_concurrency()};
  }
};

/// Measures work on a stream by events.
class DeviceClock {
 public:
  explicit DeviceClock(const gpu::Stream& stream) : stream_(stream) { last_.record(stream); }
  /// Returns the milliseconds of the stream's work since construction or the last call. Waits for that work.
  double lap() {
    next_.record(stream_);
    next_.synchronize();
    const double milliseconds = next_.since(last_);
    std::swap(last_, next_);
    return milliseconds;
  }

 private:
  const gpu::Stream& stream_;
  gpu::Event last_, next_;
};

/// Adds device_ms and `resolved`, and with check cpu_s and `equal`, if the GPU finds these distances.
void add_nearest_on_device(PointsView points, std::uint32_t k, int repeat, bool check, Json& json);

/// Adds the milliseconds of the steps from points to labels (bench.cpp, trees), if the GPU makes such trees.
void add_trees_on_device(PointsView points, std::span<const std::uint32_t> minpts, std::uint64_t size, int repeat,
                         Json& json);

}  // namespace epsflow::bench
