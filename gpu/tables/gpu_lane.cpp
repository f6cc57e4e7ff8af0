#include <epsflow/gpu/tables/gpu_lane.hpp>

namespace epsflow::gpu {

std::uint64_t GpuLane::ensure_words(std::uint64_t wanted, std::uint64_t least, std::uint64_t words_each) {
  least = std::max<std::uint64_t>(least, 1);
  wanted = std::max(wanted, least);
  const std::uint64_t held = words.size() / words_each;
  if (held >= wanted || (held >= least && wanted * words_each >= refused_)) return held;
  words = {};
  while (true) {
    try {
      words = {memory, stream.get(), wanted * words_each};
      return wanted;
    } catch (const DeviceOutOfMemory&) {
      refused_ = std::min(refused_, wanted * words_each);
      if (wanted == least) throw;
      wanted = std::max(wanted / 2, least);
    }
  }
}

void GpuLane::ensure_counts(std::uint64_t rows) {
  const std::uint64_t bytes = rows * sizeof(std::uint32_t);
  if (host_counts.size() < bytes) host_counts = pinned.acquire(bytes);
}

std::span<const std::uint32_t> GpuLane::copy_counts(const std::uint32_t* counts, std::uint64_t rows) {
  copy_to_host(host_counts.as<std::uint32_t>(), counts, rows * sizeof(std::uint32_t), stream);
  return {host_counts.as<const std::uint32_t>(), rows};
}

}  // namespace epsflow::gpu
