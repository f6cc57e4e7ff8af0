// DBSCAN from lists of pairs: every pair of neighbours once, gaps kNoPoint. None waits.
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
struct PairList {
  const PointPair* pairs = nullptr;
  std::uint64_t size = 0;  ///< places, gaps included
};

/// counts[p] += neighbours of position p in the list, p itself not among them.
void launch_count_pairs(PairList list, std::uint32_t* counts, cudaStream_t stream);
/// sums[p] += weights of the neighbours of position p in the list, p itself not among them.
void launch_sum_pairs(PairList list, const WeighingView& weights, WholeWeights::Sum* sums, cudaStream_t stream);

/// Unites neighbours that are both core, unless both are in `before`, which may be null.
void launch_unite_pairs(PairList list, const std::uint32_t* core_bits, const std::uint32_t* before,
                        std::uint32_t* parents, cudaStream_t stream);

/// *count: places of the list whose pairs are not both core.
void launch_count_needed_pairs(PairList list, const std::uint32_t* core_bits, unsigned long long* count,
                               cudaStream_t stream);
/// Copies those pairs to `to`; *count, 0 before: places taken there, with gaps.
void launch_copy_needed_pairs(PairList list, const std::uint32_t* core_bits, PointPair* to, std::uint64_t room,
                              unsigned long long* count, cudaStream_t stream);
/// Gaps that the copy may leave, at most.
[[nodiscard]] std::uint64_t most_copy_gaps() noexcept;

/// lowest[p] = the lowest number among core neighbours of a position that is not core, if lower than what is there.
void launch_offer_numbers(PairList list, const std::uint32_t* core_bits, const std::uint32_t* numbers,
                          std::uint32_t* lowest, cudaStream_t stream);

/// Labels of all positions. lowest: of those that are not core, kNoNumber for noise. Adds to tally and sizes.
void launch_label_pairs(std::uint32_t size, const std::uint32_t* order, const std::uint32_t* numbers,
                        const std::uint32_t* lowest, std::int32_t* labels, std::uint32_t* sizes, Tally* tally,
                        cudaStream_t stream);

// Tables: the rows of a range from the list.

/// A key is (row − rows.begin) · 2^bits | neighbour, both positions.
struct PairKeys {
  Range rows;
  unsigned bits;  ///< of a position
};

/// values[i] = value.
void launch_fill(std::uint32_t* values, std::uint64_t size, std::uint32_t value, cudaStream_t stream);
/// The keys of each row with itself, and *count: how many.
void launch_begin_keys(PairKeys shape, std::uint64_t* keys, unsigned long long* count, cudaStream_t stream);
/// Adds the keys of each pair, from both sides, whose row is wanted.
void launch_pair_keys(PairList list, PairKeys shape, std::uint64_t* keys, unsigned long long* count,
                      cudaStream_t stream);
/// The neighbours of sorted keys. Leaves the keys in any order.
void launch_ids_of_keys(TwoBuffers<std::uint64_t> keys, std::uint64_t size, PairKeys shape, std::uint32_t* ids,
                        Scratch scratch);

}  // namespace epsflow::gpu
