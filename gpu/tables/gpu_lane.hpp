// A lane of the GPU: a stream with its device buffers and pinned memory.
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
  GpuLane(const GpuLane&) = delete;  // queued work holds its address
  GpuLane& operator=(const GpuLane&) = delete;

  /// Allocates `words` for `wanted` items of words_each words, unless it can hold them. If the GPU lacks memory, or
  /// lacked it before, takes fewer: half as many, and so on. Returns the number of items that fit. Throws
  /// DeviceOutOfMemory if not even `least` fit.
  std::uint64_t ensure_words(std::uint64_t wanted, std::uint64_t least, std::uint64_t words_each = 1);
  /// Allocates pinned memory for the counts of `rows` rows.
  void ensure_counts(std::uint64_t rows);
  /// Copies the counts of `rows` rows from device memory to the memory of ensure_counts(), and returns that memory.
  /// Does not wait for the copy.
  std::span<const std::uint32_t> copy_counts(const std::uint32_t* counts, std::uint64_t rows);

  DeviceMemory& memory;
  PinnedPool& pinned;
  Stream stream;
  DeviceBuffer<std::uint32_t> words;  ///< neighbours (as positions), bits or pairs
  PinnedBytes host_counts;
  StreamDrain drain{stream};  // waits before the memory above is freed

 private:
  std::uint64_t refused_ = ~std::uint64_t{0};  // the smallest number of words that the GPU has refused
};

/// Makes the lanes that the options request, at least one.
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

/// Starts work of a stage on a lane. If the work throws, waits for queued work and passes the error to `done`. The work
/// must not have called `done` when it throws.
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

/// Calls done(result()) after all work so far on the lane, or passes an error to `done`.
template <class F>
void report(const GpuLane& lane, const TableSearch::Completion& done, F result) {
  lane.stream.on_complete([done, result = std::move(result)](std::exception_ptr error) {
    done(error == nullptr ? BatchResult(result()) : BatchFailed{std::move(error)});
  });
}

}  // namespace epsflow::gpu
