// Turns sets of core points into numbers and counts, for clusterings by cells and by points. No launch waits.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include <epsflow/clustering/cluster_source.hpp>
#include <epsflow/core/labels.hpp>
#include <epsflow/gpu/base/tuning.hpp>
#include <epsflow/gpu/direct/rank_bitmap.hpp>
#include <epsflow/gpu/grid/index_kernels.hpp>

namespace epsflow::gpu {

using clustering::kNotCore;  // replaces the parent of a node without core points

/// A node's entry in the numbers: its cluster's number, or kNoNumber, in the bits of kNumberMask; and the bit
/// kWholeNode, set if all its points are core.
inline constexpr std::uint32_t kNumberMask = 0x7FFFFFFFU;
inline constexpr std::uint32_t kNoNumber = kNumberMask;
inline constexpr std::uint32_t kWholeNode = 0x80000000U;

/// The largest and the smallest minpts that counts of neighbours are compared with.
struct MinptsRange {
  std::uint32_t most;
  std::uint32_t least;
};

/// Counts of one labelling, as kernels add them up. The first three counts are sums over their arrays.
struct Tally {
  std::uint64_t noise[tuning::kTallies];
  std::uint64_t border[tuning::kTallies];
  std::uint64_t core[tuning::kTallies];  ///< used if border points are not distinguished from noise, else 0
  std::uint32_t clusters;                ///< number of clusters
  std::uint32_t largest;                 ///< number of points of the largest cluster
  std::uint32_t queued;      ///< entries offered to PairQueue::pairs until it was full; may exceed its capacity
  std::uint32_t huge_pairs;  ///< number of pairs in PairQueue::huge, which can hold all pairs of huge cells
  std::uint32_t remaining;   ///< points offered to RemainingPoints; more than its capacity if some did not fit
};

/// Returns the counts of a labelling of `points` points.
[[nodiscard]] LabelSummary summary_of(const Tally& tally, std::uint64_t points);
/// Returns the counts of a labelling that does not distinguish border points from noise.
[[nodiscard]] LabelSummary core_summary_of(const Tally& tally);

/// Nodes of the union-find, which are cells or points, with their core points.
struct Nodes {
  const std::uint32_t* starts = nullptr;  ///< [count + 1] first position of each cell; null if positions are nodes
  const std::uint32_t* order = nullptr;   ///< [n] input id of each position, ascending within a node
  const std::uint32_t* core = nullptr;    ///< one bit for each position
  std::uint32_t count = 0;
  std::uint32_t minpts = 1;  ///< all points of a cell with at least this many are core; the bits are not read
};

/// The arrays of the numbering.
struct Numbering {
  std::uint32_t* parents = nullptr;   ///< [nodes] in: sets; out: roots
  std::uint32_t* smallest = nullptr;  ///< [nodes] out, at roots: smallest core id; may be the same array as `numbers`
  std::uint32_t* numbers = nullptr;   ///< [nodes] out: entry of each node
  std::uint32_t* sizes = nullptr;     ///< [clusters] out: number of core points of each; labelling adds border points
  RankWord* ids = nullptr;            ///< [id_words] out: one bit for each id, set for the smallest core ids
  std::uint64_t id_words = 0;
};

/// Links every core node to its root. No other work may use the sets meanwhile.
void launch_compress(std::uint32_t* parents, std::uint32_t count, cudaStream_t stream);

/// Links nodes to their roots, and writes numbering.numbers of the roots: clusters are numbered from 0, in the order of
/// their smallest core ids. An entry of `parents` must be kNotCore if a node has no core point. RankWord::rank of the
/// last word of numbering.ids becomes the number of clusters.
void launch_number_roots(const Nodes& nodes, const Numbering& numbering, Scratch scratch);

/// Writes numbering.numbers for all nodes, and numbering.sizes[k] = how many core points cluster k has. Call it after
/// launch_number_roots(). sizes: the length of numbering.sizes.
void launch_number(const Nodes& nodes, const Numbering& numbering, std::uint64_t sizes, cudaStream_t stream);

/// Writes first[k] = the smallest core id of cluster k. [clusters]
void launch_first_cores(const Numbering& numbering, std::uint32_t* first, cudaStream_t stream);

/// Writes the number of clusters and the largest size to the tally, after border points are added to `sizes`.
void launch_largest(const Numbering& numbering, std::uint32_t nodes, Tally* tally, cudaStream_t stream);

/// Writes the number of clusters to the tally, and adds the sum of numbering.sizes to Tally::core. Border points must
/// not have been added to numbering.sizes.
void launch_count_core(const Numbering& numbering, std::uint32_t nodes, Tally* tally, cudaStream_t stream);

/// Writes core[id] = 1 for core points, else 0, for ids below `labelled`. core_bits, order: by position.
void launch_core_mask(const std::uint32_t* core_bits, const std::uint32_t* order, std::uint32_t size,
                      std::uint32_t labelled, std::uint8_t* core, cudaStream_t stream);

/// Sets bit p of core_bits to 1 if counts[p] >= minpts, else to 0. counts: [size]. Bits from `size` on in the last word
/// become 0.
void launch_core_bits(const std::uint32_t* counts, std::uint32_t size, std::uint32_t minpts, std::uint32_t* core_bits,
                      cudaStream_t stream);

}  // namespace epsflow::gpu
