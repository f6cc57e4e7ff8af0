// Kernels that change the rows of a window and count its clusters. None waits.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include <epsflow/core/points.hpp>

namespace epsflow::gpu {

/// The rows that stay when some leave. Row r after the step was row r + k before it, if k of the rows that leave were
/// before that row.
struct StayingRows {
  const std::uint32_t* leaving = nullptr;  ///< [device] [left] ascending; null if the first rows leave
  std::uint32_t left = 0;
  std::uint32_t stay = 0;
};

/// Copies the rows that stay. from, to: [device] [n × dims]
void launch_keep_rows(const StayingRows& rows, const double* from, std::uint32_t dims, double* to, cudaStream_t stream);

/// Copies rows of other points, as float64. rows: [device] [count], or null for the first ones.
void launch_take_rows(const void* from, Precision precision, std::uint32_t dims, const std::uint32_t* rows,
                      std::uint64_t count, double* to, cudaStream_t stream);

/// Labels and core marks of all rows. [device]
struct LabelledRows {
  const std::int32_t* labels;
  const std::uint8_t* core;
};

/// The counts of clusters. [device]
struct WindowTally {
  std::uint32_t* first_row;  ///< [clusters] of the core points; set to the largest number
  std::uint32_t* core;       ///< [clusters] the number of core points; set to 0
  std::uint32_t* borders;    ///< [clusters] the number of border points; set to 0
  std::uint32_t* first;      ///< [earlier clusters] the first cluster that shares core points; set to kNoCluster
  std::uint32_t* shared;     ///< [earlier clusters] the number of core points that it shares; set to 0
};

/// Adds up everything but `shared`. rows: their number.
void launch_tally_clusters(const StayingRows& staying, LabelledRows before, LabelledRows after, std::uint32_t rows,
                           const WindowTally& tally, cudaStream_t stream);

/// The key of no pair of clusters. The key of a pair has the earlier cluster in its upper half, the later one in its
/// lower half.
inline constexpr std::uint64_t kNoPair = ~std::uint64_t{0};
/// Core points of pairs of clusters, by hashing. If more than half of the slots are taken, counts are incomplete.
/// [device]
struct PairTable {
  std::uint64_t* keys;    ///< [slots] set to kNoPair
  std::uint32_t* counts;  ///< [slots] set to 0
  std::uint32_t* pairs;   ///< the number of slots taken; set to 0
  std::uint32_t slots;    ///< a power of two
};
/// Adds up the core points that clusters share: tally.shared, and the pairs beside tally.first in the table.
void launch_tally_pairs(const StayingRows& staying, LabelledRows before, LabelledRows after, const WindowTally& tally,
                        const PairTable& table, cudaStream_t stream);
/// Lists the pairs of the table in any order. keys, counts: [device] with room for all. taken: [device] set to 0.
void launch_list_pairs(const PairTable& table, std::uint64_t* keys, std::uint32_t* counts, std::uint32_t* taken,
                       cudaStream_t stream);

}  // namespace epsflow::gpu
