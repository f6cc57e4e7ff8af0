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

/// Clusters all minpts of one eps. minpts: descending. Each minpts starts from the sets of the previous one: its core
/// points stay core, so clusters only merge. Calls emit(result) for each minpts, in this order, from the calling
/// thread; several may be finished together. VariantResult::seconds is its unite() and an equal part of the label()
/// shared by several levels. Throws Cancelled, ResourceError, and what emit throws.
void cluster_levels(Counted& counted, LabelPlace& place, double eps, std::span<const std::uint32_t> minpts,
                    const LabelPlace::Emit& emit);

/// Labels in host memory, in which the clustering works.
class HostLabels final : public LabelPlace {
 public:
  /// n: points that get labels.
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

/// No labels, for variants of which only counts are kept.
class NoLabels final : public LabelPlace {
 public:
  [[nodiscard]] LabelTarget next() override { return {}; }
  void take(VariantResult&& result, const Emit& emit) override { emit(std::move(result)); }
};

/// Makes the place for n points that get labels, by the options.
[[nodiscard]] std::unique_ptr<LabelPlace> make_host_place(std::size_t n, const DirectOptions& options);

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
/// TableSource may run concurrently. Throws Cancelled.
[[nodiscard]] VariantResult cluster(const ClusterInput& input, std::uint32_t minpts, const CancelToken& cancel);

/// Runs cluster_levels() for a source, into host memory, for any order of minpts. A point's neighbours are read once
/// when it becomes core. For borders, points that are not core are read once per variant; without weights these have
/// few neighbours. From a table O(pairs + Σ over variants (n + entries of rows that are not core)). Throws Cancelled.
void cluster_nested(const ClusterInput& input, std::vector<std::uint32_t> minpts, const CancelToken& cancel,
                    const LabelPlace::Emit& emit);

}  // namespace epsflow::clustering
