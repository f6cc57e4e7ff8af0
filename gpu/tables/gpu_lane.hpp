// A lane of the GPU: a stream with its device buffers and its pinned memory, and how work is put on it.
#pragma once

#include <cstdint>
#include <exception>
#include <utility>

#include <epsflow/core/table_search.hpp>
#include <epsflow/gpu/base/memory.hpp>
#include <epsflow/gpu/base/stream.hpp>
#include <epsflow/gpu/grid/grid_view.hpp>
#include <epsflow/gpu/grid/index_kernels.hpp>

namespace epsflow::gpu {

struct GpuLane {
  GpuLane(DeviceMemory& memory, PinnedPool& pinned);
  GpuLane(const GpuLane&) = delete;  // work under way holds its address
  GpuLane& operator=(const GpuLane&) = delete;

  /// Room for `wanted` words of ids or bits, or for as many pairs and what their sort needs. Where the GPU has no
  /// memory for them, half as many, and so on. Throws DeviceOutOfMemory when not even `least` fit. Returns for how
  /// many.
  std::uint64_t ensure_words(std::uint64_t wanted, std::uint64_t least) { return ensure(wanted, least, 1); }
  std::uint64_t ensure_pairs(std::uint64_t wanted, std::uint64_t least) { return ensure(wanted, least, kWordsPerPair); }
  /// Room for the counts of so many rows, and for the rows themselves where they are told one by one.
  void ensure_rows(std::uint64_t count, bool one_by_one);

  /// Where pairs go, and the room that their sort needs.
  [[nodiscard]] PairBuffer pair_buffer() const noexcept;
  [[nodiscard]] TwoBuffers<std::uint32_t> pair_rows() const noexcept;
  [[nodiscard]] TwoBuffers<std::uint32_t> pair_neighbors() const noexcept;

  DeviceMemory& memory;
  PinnedPool& pinned;
  Stream stream;
  DeviceBuffer<std::uint32_t> words;     ///< ids or bits; or rows, rows, neighbours, neighbours of pairs
  DeviceBuffer<std::uint64_t> counters;  ///< [3] pairs, rows; and rows again, as the sort counts them
  PinnedBytes host_counters;
  PinnedBytes host_counts;
  PinnedBytes host_rows;
  StreamDrain drain{stream};     // before the memory above goes
  FoundRows found;               ///< of the last search or sort
  std::uint64_t found_rows = 0;  ///< rows of the batch whose pairs the lane holds

 private:
  static constexpr std::uint64_t kWordsPerPair = 4;  // rows and neighbours, twice, for the sort

  std::uint64_t ensure(std::uint64_t wanted, std::uint64_t least, std::uint64_t factor);

  std::uint64_t refused_ = ~std::uint64_t{0};  // words that the GPU had no memory for
};

/// Starts work on a lane. What goes wrong is told to `done`, once what has been queued is over. The work must not have
/// called `done`, nor emptied it, when it throws.
template <class F>
void start_on(GpuLane& lane, const TableSearch::Completion& done, F&& work) {
  FoundRows failed;
  try {
    work();
    return;
  } catch (const DeviceOutOfMemory&) {
    failed.error = std::current_exception();
    failed.out_of_memory = true;
  } catch (...) {
    failed.error = std::current_exception();
  }
  (void)cudaStreamSynchronize(lane.stream.get());
  done(failed);
}

/// Calls done(what the lane has found) when all its work so far is over.
inline void report_from(const GpuLane& lane, TableSearch::Completion done) {
  lane.stream.on_complete([&lane, done = std::move(done)](std::exception_ptr error) {
    FoundRows found = lane.found;
    found.error = std::move(error);
    done(std::move(found));
  });
}

}  // namespace epsflow::gpu
