// DBSCAN from wherever the neighbours come: one variant by itself, or all minpts of an eps nested.
//
// Source: Ester et al. 1996 for the definition; Gowanlock et al. 2017 for clustering from a table that is shared by
// minpts.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <epsflow/clustering/cluster_source.hpp>
#include <epsflow/core/cancel.hpp>
#include <epsflow/core/labels.hpp>

namespace epsflow::clustering {

struct ClusterInput {
  ClusterSource& source;
  double eps = 0;          ///< for VariantResult::variant
  bool core_mask = false;  ///< fill VariantResult::core
};

/// Scratch, labels and mask of one variant under way, in bytes per point.
inline constexpr std::uint64_t kBytesPerPoint = 13;

/// One variant. O(n + pairs/2) time from a table, in parallel; kBytesPerPoint·n bytes. Safe to call for several variants of
/// one TableSource at once. VariantResult::seconds is the time of this call. Throws Cancelled.
[[nodiscard]] VariantResult cluster(const ClusterInput& input, std::uint32_t minpts, const CancelToken& cancel);

/// All variants with one union-find. The core points of a larger minpts are core for every smaller one, so clusters only
/// merge as minpts falls: going from the largest minpts down, a point's neighbours are read when it becomes core and never
/// again; only points that are not core yet are looked at for the borders of each variant, and those have fewer than
/// minpts neighbours. Calls done(result) for each variant, in descending order of minpts, from the calling thread; a few may
/// be finished together. From a table O(pairs + Σ over variants (n + entries of rows that are not core)). Throws Cancelled.
void cluster_nested(const ClusterInput& input, std::vector<std::uint32_t> minpts, const CancelToken& cancel,
                    const std::function<void(VariantResult&&)>& done);

}  // namespace epsflow::clustering
