#include <thrust/iterator/transform_iterator.h>

#include <cub/device/device_scan.cuh>

#include <epsflow/gpu/base/with_scratch.hpp>
#include <epsflow/gpu/direct/rank_bitmap.hpp>

namespace epsflow::gpu {
namespace {

struct CountBits {
  __device__ RankWord operator()(RankWord word) const {
    return {word.bits, static_cast<std::uint32_t>(__popc(word.bits))};
  }
};

/// Associative: takes the bits of the last word, and adds the ranks.
struct AddRanks {
  __device__ RankWord operator()(RankWord before, RankWord word) const { return {word.bits, before.rank + word.rank}; }
};

}  // namespace

void launch_rank(RankWord* words, std::uint64_t count, Scratch scratch) {
  with_scratch(scratch, [&](void* temporary, std::size_t& bytes) {
    return cub::DeviceScan::InclusiveScan(temporary, bytes, thrust::make_transform_iterator(words, CountBits{}), words,
                                          AddRanks{}, static_cast<std::int64_t>(count), scratch.stream);
  });
}

}  // namespace epsflow::gpu
