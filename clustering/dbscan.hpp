// DBSCAN from a neighbour table: one variant by itself, or all minpts of the table nested.
//
// Source: Ester et al. 1996 for the definition; Gowanlock et al. 2017 for clustering from a table that is shared by
// minpts.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <epsflow/core/cancel.hpp>
#include <epsflow/core/labels.hpp>
#include <epsflow/core/neighbor_table.hpp>

namespace epsflow::clustering {

/// A finished table and the input id of each of its positions, [n].
struct ClusterInput {
  const NeighborTable& table;
  std::span<const std::uint32_t> order;
  double eps = 0;
  bool core_mask = false;  ///< fill VariantResult::core
};

/// Scratch, labels and mask of one variant under way, in bytes per point.
inline constexpr std::uint64_t kBytesPerPoint = 13;

/// One variant. O(n + pairs/2) time, in parallel; kBytesPerPoint·n bytes. Safe to call for several variants of one
/// table at once. VariantResult::seconds is the time of this call. Throws Cancelled.
[[nodiscard]] VariantResult cluster(const ClusterInput& input, std::uint32_t minpts, const CancelToken& cancel);

/// All variants of the table with one union-find. The core points of a larger minpts are core for every smaller one, so
/// clusters only merge as minpts falls: going from the largest minpts down, a row is read when its point becomes core
/// and never again; only rows that are not core yet are read for the borders of each variant, and those have fewer than
/// minpts entries. Calls done(result) for each variant as it is finished, in descending order of minpts, from the
/// calling thread. O(pairs + Σ over variants (n + entries of rows that are not core)). Throws Cancelled.
void cluster_nested(const ClusterInput& input, std::vector<std::uint32_t> minpts, const CancelToken& cancel,
                    const std::function<void(VariantResult&&)>& done);

}  // namespace epsflow::clustering
