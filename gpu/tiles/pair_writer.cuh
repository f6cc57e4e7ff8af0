// Pairs from a warp into a list that all warps share.
#pragma once

#include <cstdint>

#include <epsflow/gpu/direct/tally.cuh>
#include <epsflow/gpu/tiles/tile_view.hpp>

namespace epsflow::gpu {

/// Takes places for a warp, many at a time, as an atomic per find would hold up the multiplications. Its values are the same in
/// all lanes.
class PairWriter {
 public:
  /// at_once: places to take.
  __device__ PairWriter(PointPair* list, std::uint64_t room, unsigned long long* count, std::uint32_t at_once)
      : list_(list), room_(room), count_(count), at_once_(at_once) {}

  /// Places for the pairs of all lanes, `before` of them for lower lanes; place(k) is that of the lane's k-th.
  struct Places {
    std::uint64_t first;
    std::uint64_t next;
    std::uint32_t left;
    std::uint32_t before;

    __device__ std::uint64_t operator()(std::uint32_t k) const {
      const std::uint32_t at = before + k;
      return at < left ? first + at : next + (at - left);
    }
  };

  /// The whole warp calls it. total: of all lanes.
  __device__ Places take(std::uint32_t total, std::uint32_t before) {
    const auto left = static_cast<std::uint32_t>(end_ - at_);
    Places places{at_, 0, left, before};
    if (total <= left) {
      at_ += total;
      return places;
    }
    const std::uint32_t more = (total - left + at_once_ - 1) / at_once_ * at_once_;
    unsigned long long begin = 0;
    if (threadIdx.x % 32 == 0) begin = atomicAdd(count_, static_cast<unsigned long long>(more));
    begin = __shfl_sync(kWholeWarp, begin, 0);
    places.next = begin;
    at_ = begin + (total - left);
    end_ = begin + more;
    return places;
  }

  __device__ void write(std::uint64_t place, PointPair pair) const {
    if (place < room_) list_[place] = pair;
  }

  /// Closes the gap behind the warp's last pair. The whole warp calls it.
  __device__ void finish() const {
    for (std::uint64_t place = at_ + threadIdx.x % 32; place < end_; place += 32) write(place, {kNoPoint, kNoPoint});
  }

 private:
  PointPair* list_;
  std::uint64_t room_;
  unsigned long long* count_;
  std::uint32_t at_once_;
  std::uint64_t at_ = 0;
  std::uint64_t end_ = 0;
};

/// Writes what each lane has found, `own` pairs: visit(write) calls write(pair) for each. The whole warp calls it.
template <class Visit>
__device__ void write_found(PairWriter& writer, std::uint32_t own, unsigned lane, Visit visit) {
  if (__any_sync(kWholeWarp, own > 0) == 0) return;
  std::uint32_t upto = own;
  for (unsigned step = 1; step < 32; step *= 2) {
    const std::uint32_t lower = __shfl_up_sync(kWholeWarp, upto, step);
    if (lane >= step) upto += lower;
  }
  const std::uint32_t total = __shfl_sync(kWholeWarp, upto, 31);
  const PairWriter::Places places = writer.take(total, upto - own);
  std::uint32_t k = 0;
  visit([&](PointPair pair) { writer.write(places(k++), pair); });
}

}  // namespace epsflow::gpu
