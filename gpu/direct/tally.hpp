// From sets of core points to numbers and counts: what the clusterings by cells and by points share. None waits.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include <epsflow/clustering/cluster_source.hpp>
#include <epsflow/core/labels.hpp>
#include <epsflow/gpu/base/tuning.hpp>
#include <epsflow/gpu/direct/rank_bitmap.hpp>
#include <epsflow/gpu/grid/index_kernels.hpp>

namespace epsflow::gpu {

using clustering::kNotCore;  // in place of the parent of a node without core points

/// A node's entry among the numbers: the number of its cluster or kNoNumber, and whether all its points are core.
inline constexpr std::uint32_t kNumberMask = 0x7FFFFFFFU;
inline constexpr std::uint32_t kNoNumber = kNumberMask;
inline constexpr std::uint32_t kWholeNode = 0x80000000U;

/// The minpts that a count is for.
struct MinptsRange {
  std::uint32_t most;
  std::uint32_t least;
};

/// Counts of one labelling, as kernels add them up. [device, and pinned host]
struct Tally {
  std::uint64_t noise[tuning::kTallies];
  std::uint64_t border[tuning::kTallies];
  std::uint64_t core[tuning::kTallies];  ///< where border points are not told from noise, else 0
  std::uint32_t clusters;
  std::uint32_t largest;
  std::uint32_t queued;      ///< pairs of cells, or parts of them, left to blocks; may exceed the room for them
  std::uint32_t huge_pairs;  ///< pairs of huge cells still open; may exceed the room for them
  std::uint32_t remaining;   ///< points that remain for blocks; may exceed the room for them
};

[[nodiscard]] LabelSummary summary_of(const Tally& tally, std::uint64_t points);
/// Where border points were not told from noise.
[[nodiscard]] LabelSummary core_summary_of(const Tally& tally);

/// Nodes of the union-find with their core points. Without `starts` each position is a node.
struct Nodes {
  const std::uint32_t* starts = nullptr;  ///< [count + 1] first position of each cell, or null
  const std::uint32_t* order = nullptr;   ///< [n] input id of each position, ascending within a node
  const std::uint32_t* core = nullptr;    ///< a bit per position
  std::uint32_t count = 0;
  std::uint32_t minpts = 1;  ///< nodes with as many points are core without a look at the bits
};

/// Arrays of the numbering.
struct Numbering {
  std::uint32_t* parents = nullptr;   ///< [nodes] in: sets; out: roots
  std::uint32_t* smallest = nullptr;  ///< [nodes] out, at roots: smallest core id; or the same array as `numbers`
  std::uint32_t* numbers = nullptr;   ///< [nodes] out
  std::uint32_t* sizes = nullptr;     ///< [clusters] out: core points of each
  RankWord* ids = nullptr;            ///< [id_words] scratch: a bit per input id
  std::uint64_t id_words = 0;
};

/// Points every core node at its root. Nothing else may touch the sets meanwhile.
void launch_compress(std::uint32_t* parents, std::uint32_t count, cudaStream_t stream);

/// Points nodes at their roots, and gives these the numbers of their clusters, by the smallest core id. An entry of `parents` must be
/// kNotCore where a node has no core point. The last of numbering.ids then says how many clusters there are.
void launch_number_roots(const Nodes& nodes, const Numbering& numbering, Scratch scratch);

/// The numbers of all nodes, and the sizes.
void launch_number(const Nodes& nodes, const Numbering& numbering, std::uint64_t sizes, cudaStream_t stream);

/// first[k]: the smallest core id of cluster k. [clusters]
void launch_first_cores(const Numbering& numbering, std::uint32_t* first, cudaStream_t stream);

/// Adds the number of clusters and the largest to the tally, once border points are in `sizes` too.
void launch_largest(const Numbering& numbering, std::uint32_t nodes, Tally* tally, cudaStream_t stream);

/// Adds the number of clusters and their core points to the tally, where no border points are in `sizes`.
void launch_count_core(const Numbering& numbering, std::uint32_t nodes, Tally* tally, cudaStream_t stream);

/// core[id] = 1 for core points, else 0, where id is below `labelled`.
void launch_core_mask(const std::uint32_t* core_bits, const std::uint32_t* order, std::uint32_t size,
                      std::uint32_t labelled, std::uint8_t* core, cudaStream_t stream);

/// Bit p of core_bits: counts[p] >= minpts. The bits of whole words are written.
void launch_core_bits(const std::uint32_t* counts, std::uint32_t size, std::uint32_t minpts, std::uint32_t* core_bits,
                      cudaStream_t stream);

}  // namespace epsflow::gpu
