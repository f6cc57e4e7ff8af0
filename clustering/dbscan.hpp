// DBSCAN for any source of neighbours: the driver of its phases.
//
// Sources: Ester et al. 1996 for the definition; Gowanlock et al. 2017 for a table shared by all minpts.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <epsflow/clustering/cluster_source.hpp>
#include <epsflow/core/cancel.hpp>
#include <epsflow/core/labels.hpp>
#include <epsflow/core/phases.hpp>

namespace epsflow::clustering {

/// Clusters all minpts of one eps. minpts: descending. Each minpts starts from the sets of the previous one, whose core
/// points stay core, so clusters only merge. Calls emit(result) for each minpts, in this order, from the calling
/// thread, through `store`, which may delay a call. One label() may complete the results of several minpts.
/// VariantResult::seconds is the time of the unite() of this minpts and an equal share of the time of that label().
/// Throws Cancelled, ResourceError and the exceptions of emit().
void cluster_levels(Counted& counted, LabelStore& store, double eps, std::span<const std::uint32_t> minpts,
                    const LabelStore::Emit& emit);

/// Allocates labels in host memory, for clusterings that write to host memory.
class HostLabels final : public LabelStore {
 public:
  /// n: number of points that get labels. core_mask: allocate a mask of core points for each level, too.
  HostLabels(std::size_t n, bool core_mask) : n_(n), core_mask_(core_mask) {}

  [[nodiscard]] LabelTarget next() override;
  void take(VariantResult&& result, const Emit& emit) override;

 private:
  struct LabelBuffers {
    Labels labels;
    std::vector<std::uint8_t> core;
  };

  std::size_t n_;
  bool core_mask_;
  std::deque<LabelBuffers> buffers_;
};

/// Allocates neither labels nor masks, for variants of which only counts are stored.
class NoLabels final : public LabelStore {
 public:
  [[nodiscard]] LabelTarget next() override { return {}; }
  void take(VariantResult&& result, const Emit& emit) override { emit(std::move(result)); }
};

/// Returns HostLabels for n points that get labels, or NoLabels if DirectOptions::keep requests no labels.
[[nodiscard]] std::unique_ptr<LabelStore> make_host_store(std::size_t n, const DirectOptions& options);

/// The source of neighbours and the requested results of cluster() and cluster_nested().
struct ClusterInput {
  ClusterSource& source;
  double eps = 0;          ///< for VariantResult::variant
  bool core_mask = false;  ///< fill VariantResult::core
  Keep keep = Keep::labels;
  bool clusters = false;  ///< fill VariantResult::clusters
};

/// Scratch, labels and mask of one variant in progress, in bytes per point.
inline constexpr std::uint64_t kBytesPerPoint = 13;

/// Clusters one variant. O(n + pairs/2) time from a table, in parallel; kBytesPerPoint·n bytes. Several variants of one
/// TableSource may run concurrently. Throws Cancelled, ResourceError.
[[nodiscard]] VariantResult cluster(const ClusterInput& input, std::uint32_t minpts, const CancelToken& cancel);

/// Runs cluster_levels() for a source, into host memory, for minpts in any order. The neighbours of a point are read
/// once when it becomes core. In addition, each variant reads the neighbours of the points that are not core, to find
/// border points (not with Keep::core); without weights these points have fewer than minpts neighbours. From a table
/// O(pairs + Σ over variants (n + entries of rows that are not core)). Throws as cluster_levels().
void cluster_nested(const ClusterInput& input, std::vector<std::uint32_t> minpts, const CancelToken& cancel,
                    const LabelStore::Emit& emit);

}  // namespace epsflow::clustering
