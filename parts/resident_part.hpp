// A part whose points a backend has in its memory and clusters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <epsflow/core/backend.hpp>
#include <epsflow/core/cancel.hpp>
#include <epsflow/core/phases.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/core/space.hpp>
#include <epsflow/core/sweep.hpp>
#include <epsflow/core/weights.hpp>
#include <epsflow/parts/part_view.hpp>
#include <epsflow/pipeline/options.hpp>

namespace epsflow::parts {

/// The points of a part in the memory of a backend.
struct PartPoints {
  /// The coordinates to which `loaded` refers; empty if another object owns them, or if `loaded` has its own.
  Points coordinates;
  std::unique_ptr<LoadedPoints> loaded;
};

/// The clusters of a part at one level. Clusters whose core points are all ghosts come last.
struct PartClusters {
  std::vector<std::uint32_t> first;  ///< first own core point of each cluster that has one, ascending
  std::size_t count = 0;             ///< number of all clusters, including clusters of ghosts only
  /// The cluster of each point of PartView::send_list, then of each inner ghost; UnitedPart::kNoSet if it is not core.
  std::vector<std::uint32_t> shared;
  /// UnitedPart::border_ties(), if they were requested and the backend could find them.
  std::optional<std::vector<BorderTie>> ties = {};
};

/// How the points of a part are searched. All that it refers to must outlive the search.
struct PartSearch {
  double radius;  ///< among transformed points
  const SearchOptions& options;
  const CancelToken& cancel;
};

/// A loaded part after its index is built, and the neighbours of its points are counted or their weights summed. Unites
/// and labels the levels of the part. Owns the PartPoints.
class ResidentPart {
 public:
  /// Builds the index and counts. points: the points of the view. options.minpts: all levels that will be united; keep,
  /// weights and shared of the options are replaced. scale: the unit of the weights in view.units; null if points have
  /// no weights. Throws Cancelled, ResourceError, and UsageError if the index cannot be clustered in parts.
  ResidentPart(PartPoints points, const PartView& view, const WeightScale* scale, const PartSearch& search,
               DirectOptions options);

  /// Returns the largest number of levels that may be united before label() or leave() must be called.
  [[nodiscard]] std::size_t levels_at_once() const { return counted_->levels_at_once(); }

  /// Unites levels, and returns the clusters of each. minpts: the levels, descending, all below the levels that were
  /// united before. ties: requests PartClusters::ties. At most levels_at_once() levels may wait for label() or leave().
  [[nodiscard]] std::vector<PartClusters> unite(std::span<const std::uint32_t> minpts, const PartView& view, bool ties);

  /// Receives the result of variants[l] of label(), with labels of all points except outer ghosts but without a
  /// summary, and the counts of its level, which include inner ghosts.
  using Take = std::function<void(VariantResult&& result, std::size_t l, const LevelResult& found)>;
  /// Labels the levels that were united since the last label() or leave(), in the same order. variants: [levels] the
  /// variant of each level. numbers: [levels] the new numbers of the clusters of each level.
  void label(std::span<const Variant> variants, std::span<const ClusterNumbers> numbers, const Take& take);
  /// Called in place of label() if no labels of these levels are needed. Then further levels can be united.
  void leave(std::span<const ClusterNumbers> numbers) {
    (void)united_->label(std::vector<LabelTarget>(numbers.size()), numbers);
  }

 private:
  std::vector<std::uint32_t> asked_;
  SharedPoints shared_;
  PartPoints points_;
  std::optional<LoadedWeights> weights_;
  std::unique_ptr<Index> index_;
  std::unique_ptr<LabelStore> store_;
  std::unique_ptr<CountedPart> counted_;
  UnitedPart* united_ = nullptr;
};

}  // namespace epsflow::parts
