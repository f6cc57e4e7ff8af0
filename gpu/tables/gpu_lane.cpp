#include <epsflow/gpu/tables/gpu_lane.hpp>

#include <algorithm>

namespace epsflow::gpu {

GpuLane::GpuLane(DeviceMemory& m, PinnedPool& p)
    : memory(m), pinned(p), counters(m, stream.get(), 3), host_counters(p.acquire(3 * sizeof(std::uint64_t))) {}

std::uint64_t GpuLane::ensure(std::uint64_t wanted, std::uint64_t least, std::uint64_t factor) {
  least = std::max<std::uint64_t>(least, 1);
  wanted = std::max(wanted, least);
  const std::uint64_t held = words.size() / factor;
  if (held >= wanted || (held >= least && wanted * factor >= refused_)) return held;
  words = {};
  while (true) {
    try {
      words = {memory, stream.get(), wanted * factor};
      return wanted;
    } catch (const DeviceOutOfMemory&) {
      refused_ = std::min(refused_, wanted * factor);
      if (wanted == least) throw;
      wanted = std::max(wanted / 2, least);
    }
  }
}

void GpuLane::ensure_rows(std::uint64_t count, bool one_by_one) {
  const std::uint64_t bytes = count * sizeof(std::uint32_t);
  if (host_counts.size() < bytes) host_counts = pinned.acquire(bytes);
  if (one_by_one && host_rows.size() < bytes) host_rows = pinned.acquire(bytes);
}

PairBuffer GpuLane::pair_buffer() const noexcept {
  return {pair_rows().current, pair_neighbors().current, words.size() / kWordsPerPair, counters.data()};
}

TwoBuffers<std::uint32_t> GpuLane::pair_rows() const noexcept {
  const std::uint64_t capacity = words.size() / kWordsPerPair;
  return {words.data(), words.data() + capacity};
}

TwoBuffers<std::uint32_t> GpuLane::pair_neighbors() const noexcept {
  const std::uint64_t capacity = words.size() / kWordsPerPair;
  return {words.data() + 2 * capacity, words.data() + 3 * capacity};
}

}  // namespace epsflow::gpu
