// Launches of kernels that change the rows of a window and count its clusters, at each step. No function waits for its
// kernel. Each throws if the launch fails (check_launch()).
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include <epsflow/core/points.hpp>

namespace epsflow::gpu {

/// The rows that stay in the window at a step, and the rows that leave it. The rows that stay keep their order and
/// become rows 0 … stay − 1.
struct StayingRows {
  const std::uint32_t* leaving = nullptr;  ///< [device] [left] ascending; null if the first `left` rows leave
  std::uint32_t left = 0;                  ///< number of rows that leave
  std::uint32_t stay = 0;                  ///< number of rows that stay
};

/// Copies the rows that stay. from: [device] [(left + stay) × dims]. to: [device] [stay × dims] or more, other memory
/// than `from`.
void launch_keep_rows(const StayingRows& rows, const double* from, std::uint32_t dims, double* to, cudaStream_t stream);

/// Copies `count` rows of points that enter the window, and converts them to float64. from: [device] the points, in the
/// given precision. rows: [device] [count], or null for the first `count` rows. to: [device] [count × dims]
void launch_take_rows(const void* from, Precision precision, std::uint32_t dims, const std::uint32_t* rows,
                      std::uint64_t count, double* to, cudaStream_t stream);

/// The label of each row of the window, and a mark that is not 0 if the row is core. [device] [rows]
struct LabelledRows {
  const std::int32_t* labels;
  const std::uint8_t* core;
};

/// The counts of the clusters after a step, and of the core points that they share with clusters before it. The caller
/// allocates the arrays and sets the initial values. [device]
struct WindowTally {
  std::uint32_t* first_row;  ///< [clusters] the smallest row of a core point; initially 2³² − 1
  std::uint32_t* core;       ///< [clusters] the number of core points; initially 0
  std::uint32_t* borders;    ///< [clusters] the number of border points; initially 0
  /// [clusters before] the smallest label of a cluster after the step that shares core points; initially kNoCluster
  /// (clustering/cluster_matching.hpp), which stays if there is none.
  std::uint32_t* first;
  std::uint32_t* shared;  ///< [clusters before] the number of core points that cluster `first` shares; initially 0
};

/// Fills all of `tally` except `shared`. rows: the number of rows after the step. The rows that stayed are the first of
/// them.
void launch_tally_clusters(const StayingRows& staying, LabelledRows before, LabelledRows after, std::uint32_t rows,
                           const WindowTally& tally, cudaStream_t stream);

/// The key of a slot that holds no pair. The key of a pair has the label of the cluster before the step in its upper 32
/// bits, and the label of the cluster after the step in its lower 32 bits.
inline constexpr std::uint64_t kNoPair = ~std::uint64_t{0};
/// A hash table of pairs of a cluster before the step and one after it, with the number of core points that they share.
/// If `pairs` is more than half of the slots, the counts are incomplete, and the caller repeats the step's counts with
/// a larger table. The caller allocates the arrays and sets the initial values. [device]
struct PairTable {
  std::uint64_t* keys;    ///< [slots] initially kNoPair
  std::uint32_t* counts;  ///< [slots] core points of the pair; initially 0
  std::uint32_t* pairs;   ///< the number of slots that hold a pair; initially 0
  std::uint32_t slots;    ///< a power of two
};
/// Counts the core points that clusters before and after the step share. A point that a cluster before the step shares
/// with its tally.first counts in tally.shared, every other point in the table. Launch it after
/// launch_tally_clusters().
void launch_tally_pairs(const StayingRows& staying, LabelledRows before, LabelledRows after, const WindowTally& tally,
                        const PairTable& table, cudaStream_t stream);
/// Lists the pairs of the table in any order. keys, counts: [device] [pairs]. taken: [device] a counter, initially 0.
void launch_list_pairs(const PairTable& table, std::uint64_t* keys, std::uint32_t* counts, std::uint32_t* taken,
                       cudaStream_t stream);

}  // namespace epsflow::gpu
