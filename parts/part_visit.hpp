// A part where a backend works on it.
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

/// The points of a part where a backend works on them.
struct PartPoints {
  Points room;  ///< where the backend has no way of its own to bring points together
  std::unique_ptr<LoadedPoints> loaded;
};

/// How the points of a part are searched. All that it refers to must outlive the search.
struct PartSearch {
  double radius;
  const SearchOptions& options;
  const CancelToken& cancel;
};

/// Where its neighbours are counted, or their weights. Its points go with it.
class PartVisit {
 public:
  /// points: those of the view. options: minpts are those of the levels that it is made for; they, view and scale must outlive it. scale: null
  /// where points have no weights. Throws Cancelled, ResourceError.
  PartVisit(PartPoints points, const PartView& view, const WeightScale* scale, const PartSearch& search,
            DirectOptions options);

  [[nodiscard]] std::size_t levels_at_once() const { return counted_->levels_at_once(); }

  /// The clusters of a level as a part knows them. Those of ghosts alone, which have their first core points in other parts, come last.
  struct Found {
    std::vector<std::uint32_t> first;  ///< first own core points, ascending: of the first clusters
    std::size_t count = 0;             ///< of all
    std::vector<std::uint32_t>
        shared;  ///< [lent + near] the cluster of each lent point and inner ghost, or UnitedPart::kNoSet if it is not core
    std::optional<std::vector<BorderTie>> ties = {};  ///< UnitedPart::border_ties(), where they were asked for
  };
  /// At most levels_at_once(), before each label(). ties: whether they are wanted, too.
  [[nodiscard]] std::vector<Found> unite(std::span<const std::uint32_t> minpts, const PartView& view, bool ties);

  /// Is given the result of level l, with labels of all but the ghosts beyond, and what was found of it.
  using Take = std::function<void(VariantResult&& result, std::size_t l, const LevelResult& found)>;
  /// Labels the levels united last by these numbers.
  void label(std::span<const Variant> variants, std::span<const ClusterNumbers> numbers, const Take& take);
  /// Ends the levels united last without labels.
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
