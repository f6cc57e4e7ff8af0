// Divides the search of one eps into batches, by an estimate of the number of pairs.
//
// Source: section VI of Gowanlock et al. 2017 ("Clustering Throughput Optimization on the GPU"): the number of pairs
// a_b of the whole table is estimated from a sample of the points, and n_b = ⌈(1 + α)·a_b/b_b⌉ batches share them if
// b_b pairs fit a lane's buffer. Difference: the sample gives the share of candidates that are neighbours, and the
// pairs of a bundle are estimated as its candidates (known exactly) times that share, so that consecutive rows make
// batches of about equal size on skewed data too.
#pragma once

#include <cstdint>
#include <utility>

#include <epsflow/core/cancel.hpp>
#include <epsflow/core/table_search.hpp>
#include <epsflow/index/row_search.hpp>
#include <epsflow/index/search_index.hpp>

namespace epsflow::index {

/// Share of the points in the sample (f in the paper).
inline constexpr double kSampleShare = 0.01;
/// Margin of a batch over its estimate (α in the paper). Tables of fewer than kSmallPairs estimated pairs have less
/// reliable samples, and take kAlphaSmall.
inline constexpr double kAlpha = 0.05;
inline constexpr double kAlphaSmall = 2 * kAlpha;
inline constexpr std::uint64_t kSmallPairs = 1'000'000;
/// Pairs in a lane's buffer on the CPU, unless TableOptions::lane_pairs is set: 1 MiB of ids stays in a core's
/// second-level cache until the table copies it.
inline constexpr std::uint64_t kLanePairs = 256 * 1024;
/// A batch gets about 1/(32 · workers) of all distance tests, but at least kFewestTests, to limit the cost of
/// scheduling, and at most kMostTests (divided by dims/4 from five dimensions on) + kFewestTests, to limit the delay of
/// a cancellation. It gets fewer if their pairs would not fit the lane's buffer. It has at least one row.
inline constexpr std::uint64_t kFewestTests = 64 * 1024;
inline constexpr std::uint64_t kMostTests = 8 * 1024 * 1024;

/// Returns the sum of the numbers of candidates of all points. O(bundles · candidate ranges), in parallel. Throws
/// Cancelled.
[[nodiscard]] std::uint64_t count_candidates(const SearchIndex& index, const CancelToken& cancel);

/// Returns batches of rows of a packed table. Only the number of tests is balanced, because the size of the table is
/// known.
[[nodiscard]] BatchPlan plan_packed(const SearchIndex& index, const PackedLayout& layout, const TableOptions& options);

/// Returns batches of rows of a csr table, whose estimated pairs fit a lane's buffer unless a single row has more.
/// O(bundles · candidate ranges + sample), in parallel. Throws Cancelled.
[[nodiscard]] BatchPlan plan_by_pairs(const SearchIndex& index, const RowSearch& search, const TableOptions& options,
                                      const CancelToken& cancel);

/// Returns the two halves of a batch of at least two consecutive rows, each with half of the expected pairs.
[[nodiscard]] std::pair<Batch, Batch> split_range(const Batch& batch);

}  // namespace epsflow::index
