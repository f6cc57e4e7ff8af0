// A part while a backend clusters it.
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
  Points room;  ///< the coordinates to which `loaded` refers; empty if another object has them, or none are needed
  std::unique_ptr<LoadedPoints> loaded;
};

/// The clusters of a part at one level. Clusters whose core points are all ghosts come last.
struct PartClusters {
  std::vector<std::uint32_t> first;  ///< first own core point of each of the leading clusters, ascending
  std::size_t count = 0;             ///< number of all clusters, including clusters of ghosts only
  std::vector<std::uint32_t>
      shared;  ///< [send_list + inner] cluster of each sent point and inner ghost; kNoSet: not core
  std::optional<std::vector<BorderTie>> ties = {};  ///< UnitedPart::border_ties(), if they were requested
};

/// How the points of a part are searched. All that it refers to must outlive the search.
struct PartSearch {
  double radius;
  const SearchOptions& options;
  const CancelToken& cancel;
};

/// A loaded part after its index is built and its neighbours are counted, or their weights summed. Unites and labels
/// the levels of the part. Owns the points.
class ResidentPart {
 public:
  /// Builds the index and counts. points: the points of the view. options: its minpts are the levels that will be
  /// united. scale: the scale of view.units; null if points have no weights. Throws Cancelled, ResourceError, and
  /// UsageError if the index cannot be clustered in parts.
  ResidentPart(PartPoints points, const PartView& view, const WeightScale* scale, const PartSearch& search,
               DirectOptions options);

  /// Returns the number of levels that may be united before one label().
  [[nodiscard]] std::size_t levels_at_once() const { return counted_->levels_at_once(); }

  /// Unites levels, and returns the clusters of each. minpts: descending, below all that were united before; at most
  /// levels_at_once() before each label() or leave(). ties: requests PartClusters::ties.
  [[nodiscard]] std::vector<PartClusters> unite(std::span<const std::uint32_t> minpts, const PartView& view, bool ties);

  /// Receives the result of level l, with labels of all points except outer ghosts, and the counts of the level.
  using Take = std::function<void(VariantResult&& result, std::size_t l, const LevelResult& found)>;
  /// Labels the levels that were united since the last call. variants, numbers: [levels] the variant of each, and the
  /// new numbers of its clusters.
  void label(std::span<const Variant> variants, std::span<const ClusterNumbers> numbers, const Take& take);
  /// Does the same without labels, so that further levels can be united.
  void leave(std::span<const ClusterNumbers> numbers) {
    (void)united_->label(std::vector<LabelTarget>(numbers.size()), numbers);
  }

 private:
  std::vector<std::uint32_t> asked_;
  SharedPoints shared_;
  PartPoints points_;
  std::optional<LoadedWeights> weights_;
  std::unique_ptr<Index> index_;
  std::unique_ptr<LabelPlace> place_;
  std::unique_ptr<CountedPart> counted_;
  UnitedPart* united_ = nullptr;
};

}  // namespace epsflow::parts
