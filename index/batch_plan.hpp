// Cutting the search of one eps into batches, from an estimate of the pairs.
//
// After section VI of Gowanlock et al. 2017 ("Clustering Throughput Optimization on the GPU"): the pairs a_b of the
// whole table follow from a sample of the points, and n_b = ⌈(1 + α)·a_b/b_b⌉ batches share them, where b_b pairs fit a
// lane's buffer. What differs: the sample gives the share of candidates that are neighbours, and a bundle's pairs are
// estimated by its candidates (known exactly) times that share, so that consecutive rows make batches of about equal
// size on skewed data too.
#pragma once

#include <cstdint>
#include <utility>

#include <epsflow/core/cancel.hpp>
#include <epsflow/core/table_search.hpp>
#include <epsflow/index/row_search.hpp>
#include <epsflow/index/search_index.hpp>

namespace epsflow::index {

/// Share of the points that the estimate looks at (the paper's f).
inline constexpr double kSampleShare = 0.01;
/// Head-room of a batch over its estimate (the paper's α), and for tables of few pairs, where the sample says little.
inline constexpr double kAlpha = 0.05;
inline constexpr double kAlphaSmall = 2 * kAlpha;
inline constexpr std::uint64_t kSmallPairs = 1'000'000;
/// Pairs of a lane's buffer on the CPU: 1 MiB of ids stays in a core's second-level cache until the table takes it
/// over.
inline constexpr std::uint64_t kLanePairs = 256 * 1024;
/// Distance tests of a batch: bounds below what scheduling costs and above how long a cancelled run goes on.
inline constexpr std::uint64_t kFewestTests = 64 * 1024;
inline constexpr std::uint64_t kMostTests = 8 * 1024 * 1024;

/// Candidates of all points together. O(bundles · their candidate ranges), in parallel. Throws Cancelled.
[[nodiscard]] std::uint64_t count_candidates(const SearchIndex& index, const CancelToken& cancel);

/// Batches of rows of a packed table: only the number of tests is balanced, as the size is known.
[[nodiscard]] BatchPlan plan_packed(const SearchIndex& index, const PackedLayout& layout, const TableOptions& options);

/// Batches whose estimated pairs fit a lane's buffer. O(bundles · their candidate ranges) and the sample, in parallel.
[[nodiscard]] BatchPlan plan_by_pairs(const SearchIndex& index, const RowSearch& search, const TableOptions& options,
                                      const CancelToken& cancel);

/// The two halves of a batch of at least two consecutive rows, each with half of the expected pairs.
[[nodiscard]] std::pair<Batch, Batch> split_range(const Batch& batch);

}  // namespace epsflow::index
