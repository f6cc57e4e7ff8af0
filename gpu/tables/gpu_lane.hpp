// A lane of the GPU: a stream with its device buffers and its pinned memory, and how work is put on it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <exception>
#include <span>
#include <utility>

#include <epsflow/core/table_search.hpp>
#include <epsflow/core/trace.hpp>
#include <epsflow/gpu/base/device.hpp>
#include <epsflow/gpu/base/gpu_resources.hpp>
#include <epsflow/gpu/base/memory.hpp>
#include <epsflow/gpu/base/nvtx.hpp>
#include <epsflow/gpu/base/stream.hpp>

namespace epsflow::gpu {

struct GpuLane {
  explicit GpuLane(const GpuResources& resources) : memory(resources.memory), pinned(resources.pinned) {}
  GpuLane(const GpuLane&) = delete;  // work under way holds its address
  GpuLane& operator=(const GpuLane&) = delete;

  /// Room for `wanted` items of so many words each. Where the GPU has no memory for them, for half as many, and so on.
  /// Throws DeviceOutOfMemory when not even `least` fit. Returns for how many.
  std::uint64_t ensure_words(std::uint64_t wanted, std::uint64_t least, std::uint64_t words_each = 1);
  /// Pinned room for the counts of so many rows.
  void ensure_counts(std::uint64_t rows);
  /// Copies the counts of so many rows there. Does not wait.
  std::span<const std::uint32_t> copy_counts(const std::uint32_t* counts, std::uint64_t rows);

  DeviceMemory& memory;
  PinnedPool& pinned;
  Stream stream;
  DeviceBuffer<std::uint32_t> words;  ///< of ids, bits or pairs
  PinnedBytes host_counts;
  StreamDrain drain{stream};  // before the memory above goes

 private:
  std::uint64_t refused_ = ~std::uint64_t{0};  // words that the GPU had no memory for
};

/// As many lanes as the options ask for.
template <class Lane>
[[nodiscard]] std::deque<Lane> make_lanes(const GpuResources& resources, const TableOptions& options) {
  std::deque<Lane> lanes;
  for (unsigned i = 0; i < std::max(1U, options.lanes); ++i) lanes.emplace_back(resources);
  return lanes;
}

/// Copies to pinned memory. Does not wait.
inline void copy_to_host(void* to, const void* from, std::uint64_t bytes, const Stream& stream) {
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream.get()));
}

/// Starts work of a stage on a lane. What goes wrong is told to `done`, once what has been queued is over. The work must
/// not have called `done` when it throws.
template <class F>
void start_on(const GpuLane& lane, Stage stage, const TableSearch::Completion& done, F&& work) {
  BatchResult failed;
  try {
    const DeviceScope scope(lane.stream.device());
    const StageRange range(stage);
    work();
    return;
  } catch (const DeviceOutOfMemory&) {
    failed = DeviceFull{std::current_exception()};
  } catch (...) {
    failed = BatchFailed{std::current_exception()};
  }
  (void)cudaStreamSynchronize(lane.stream.get());
  done(failed);
}

/// Calls done(result()) when all work of the lane so far is over, or tells `done` what went wrong.
template <class F>
void report(const GpuLane& lane, const TableSearch::Completion& done, F result) {
  lane.stream.on_complete([done, result = std::move(result)](std::exception_ptr error) {
    done(error == nullptr ? BatchResult(result()) : BatchFailed{std::move(error)});
  });
}

}  // namespace epsflow::gpu
