// DBSCAN from lists of pairs of positions, which have no pair twice, and kNoPoint in gaps. No function waits for its
// stream. Bits of core points: one for each position.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include <epsflow/core/candidate_bundles.hpp>
#include <epsflow/gpu/direct/device_weighing.hpp>
#include <epsflow/gpu/direct/tally.hpp>
#include <epsflow/gpu/grid/index_kernels.hpp>
#include <epsflow/gpu/tiles/tile_view.hpp>

namespace epsflow::gpu {

/// Pairs in device memory.
struct PairsOnDevice {
  const PointPair* pairs = nullptr;
  std::uint64_t size = 0;  ///< number of entries, gaps included
};

/// Adds to counts[p] the neighbours of position p in the list, without p itself.
void launch_count_pairs(PairsOnDevice list, std::uint32_t* counts, cudaStream_t stream);
/// Adds to sums[p] the weights, in integer units, of the neighbours of position p in the list, without p itself.
void launch_sum_pairs(PairsOnDevice list, const WeighingView& weights, WeightSum* sums, cudaStream_t stream);

/// Unites neighbours that are both core, unless both are core in `before`, the bits of an earlier level, which may be
/// null. parents: [positions] the sets.
void launch_unite_pairs(PairsOnDevice list, const std::uint32_t* core_bits, const std::uint32_t* before,
                        std::uint32_t* parents, cudaStream_t stream);

/// Writes *count = the number of pairs with at least one position that is not core.
void launch_count_needed_pairs(PairsOnDevice list, const std::uint32_t* core_bits, unsigned long long* count,
                               cudaStream_t stream);
/// Copies the pairs with at least one position that is not core to `to`, with gaps. Writes *count = the number of
/// entries used there. to: [capacity]
void launch_copy_needed_pairs(PairsOnDevice list, const std::uint32_t* core_bits, PointPair* to, std::uint64_t capacity,
                              unsigned long long* count, cudaStream_t stream);
/// Upper bound on the gaps that the copy leaves.
[[nodiscard]] std::uint64_t most_copy_gaps() noexcept;

/// Lowers lowest[p] to the lowest cluster number of the core neighbours in the list, for each p that is not core.
/// numbers: [positions] from launch_number().
void launch_offer_numbers(PairsOnDevice list, const std::uint32_t* core_bits, const std::uint32_t* numbers,
                          std::uint32_t* lowest, cudaStream_t stream);

/// Labels all `size` positions. labels: by input id; null: none are written. lowest: from launch_offer_numbers(), read
/// if the position is not core; kNoNumber or more means noise. Adds noise and border points to the tally, and border
/// points to the sizes of their clusters.
void launch_label_pairs(std::uint32_t size, const std::uint32_t* order, const std::uint32_t* numbers,
                        const std::uint32_t* lowest, std::int32_t* labels, std::uint32_t* sizes, Tally* tally,
                        cudaStream_t stream);

// Tables: make the rows of a range from the list.

/// A key is (row − rows.begin) · 2^bits | neighbour, both positions.
struct PairKeys {
  Range rows;
  unsigned bits;  ///< bits of a position
};

/// Sets values[i] = value.
void launch_fill(std::uint32_t* values, std::uint64_t size, std::uint32_t value, cudaStream_t stream);
/// Writes the key of each row with itself, and *count = the number of keys.
void launch_begin_keys(PairKeys shape, std::uint64_t* keys, unsigned long long* count, cudaStream_t stream);
/// Appends the keys of each pair, from both sides, whose row is in the range. *count: the number of keys so far.
void launch_pair_keys(PairsOnDevice list, PairKeys shape, std::uint64_t* keys, unsigned long long* count,
                      cudaStream_t stream);
/// Sorts `size` keys, and writes their neighbours to ids: row by row, ascending in each. Both buffers of keys are
/// undefined after it.
void launch_ids_of_keys(TwoBuffers<std::uint64_t> keys, std::uint64_t size, PairKeys shape, std::uint32_t* ids,
                        Scratch scratch);

}  // namespace epsflow::gpu
