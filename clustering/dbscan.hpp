// DBSCAN from wherever the neighbours come: the one driver of its phases.
//
// Source: Ester et al. 1996 for the definition; Gowanlock et al. 2017 for clustering from a table that is shared by
// minpts.
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

/// Clusters all minpts of one eps. minpts: descending. Each minpts starts from the sets of the one before: its core points stay core,
/// so clusters only merge. Calls emit(result) for each minpts, in this order, from the calling thread; a few may be finished
/// together. VariantResult::seconds: the time of its own unite(), and an equal part of the label() that it shares with other
/// levels. What emit throws is thrown from here. Throws Cancelled, ResourceError.
void cluster_levels(Counted& counted, LabelPlace& place, double eps, std::span<const std::uint32_t> minpts,
                    const LabelPlace::Emit& emit);

/// In host memory, where the clustering works.
class HostLabels final : public LabelPlace {
 public:
  /// n: points that get labels.
  HostLabels(std::size_t n, bool core_mask) : n_(n), core_mask_(core_mask) {}

  [[nodiscard]] LabelTarget next() override;
  void take(VariantResult&& result, const Emit& emit) override;

 private:
  struct Room {
    Labels labels;
    std::vector<std::uint8_t> core;
  };

  std::size_t n_;
  bool core_mask_;
  std::deque<Room> rooms_;
};

/// Nowhere: of variants whose counts alone are kept.
class NoLabels final : public LabelPlace {
 public:
  [[nodiscard]] LabelTarget next() override { return {}; }
  void take(VariantResult&& result, const Emit& emit) override { emit(std::move(result)); }
};

/// Of n points that get labels, as the options say.
[[nodiscard]] std::unique_ptr<LabelPlace> make_host_place(std::size_t n, const DirectOptions& options);

struct ClusterInput {
  ClusterSource& source;
  double eps = 0;          ///< for VariantResult::variant
  bool core_mask = false;  ///< fill VariantResult::core
  Keep keep = Keep::labels;
  bool clusters = false;  ///< fill VariantResult::clusters
};

/// Scratch, labels and mask of one variant under way, in bytes per point.
inline constexpr std::uint64_t kBytesPerPoint = 13;

/// One variant. O(n + pairs/2) time from a table, in parallel; kBytesPerPoint·n bytes. Safe to call for several variants of
/// one TableSource at once. Throws Cancelled.
[[nodiscard]] VariantResult cluster(const ClusterInput& input, std::uint32_t minpts, const CancelToken& cancel);

/// cluster_levels() of a source, into host memory, for any order of minpts. A point's neighbours are read once when it becomes core.
/// For borders only points that are not core are read, once per variant; without weights these have fewer than minpts neighbours.
/// From a table O(pairs + Σ over variants (n + entries of rows that are not core)). Throws Cancelled.
void cluster_nested(const ClusterInput& input, std::vector<std::uint32_t> minpts, const CancelToken& cancel,
                    const LabelPlace::Emit& emit);

}  // namespace epsflow::clustering
