// Writes pairs from a warp to a list that all warps share.
#pragma once

#include <cstdint>

#include <epsflow/gpu/base/tuning.hpp>
#include <epsflow/gpu/direct/tally.cuh>
#include <epsflow/gpu/tiles/tile_view.hpp>

namespace epsflow::gpu {

/// Reserves many entries at a time, as an atomic for each pair would delay products. Its members are equal in all
/// lanes.
class PairWriter {
 public:
  /// capacity: of the list; entries beyond it are counted in *count, but not written. at_once: number of entries to
  /// reserve at a time, at least 32.
  __device__ PairWriter(PointPair* list, std::uint64_t capacity, unsigned long long* count, std::uint32_t at_once)
      : list_(list), capacity_(capacity), count_(count), at_once_(at_once) {}

  /// Writes the pair of each lane whose bit is set in `takers`. The whole warp must call it with the same `takers`.
  __device__ void put(unsigned takers, PointPair pair) {
    const unsigned lane = threadIdx.x % 32;
    const auto total = static_cast<std::uint32_t>(__popc(takers));
    const std::uint32_t left = left_;
    const std::uint64_t first = at_;
    std::uint64_t next = 0;
    if (total <= left) {
      at_ += total;
      left_ -= total;
    } else {
      const std::uint32_t more = at_once_;
      unsigned long long begin = 0;
      if (lane == 0) begin = atomicAdd(count_, static_cast<unsigned long long>(more));
      next = __shfl_sync(tuning::kWholeWarp, begin, 0);
      at_ = next + (total - left);
      left_ = more - (total - left);
    }
    if ((takers >> lane & 1U) == 0) return;
    const auto before = static_cast<std::uint32_t>(__popc(takers & ((1U << lane) - 1)));
    write(before < left ? first + before : next + (before - left), pair);
  }

  /// Fills the reserved entries after the warp's last pair with gaps. The whole warp must call it.
  __device__ void finish() const {
    for (std::uint32_t i = threadIdx.x % 32; i < left_; i += 32) write(at_ + i, {kNoPoint, kNoPoint});
  }

 private:
  __device__ void write(std::uint64_t i, PointPair pair) const {
    if (i < capacity_) list_[i] = pair;
  }

  PointPair* list_;
  std::uint64_t capacity_;
  unsigned long long* count_;
  std::uint32_t at_once_;
  std::uint64_t at_ = 0;
  std::uint32_t left_ = 0;
};

}  // namespace epsflow::gpu
