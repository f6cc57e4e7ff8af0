#include <epsflow/parts/part_visit.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

#include <epsflow/index/cell_axes.hpp>

namespace epsflow::parts {

std::unique_ptr<Index> index_of_part(const LoadedPoints& points, double radius, const SearchOptions& search,
                                     const CancelToken& cancel) {
  return points.build_index({.eps = radius,
                             .cells = points.dims() <= index::kMostCliqueDims ? Cells::clique : Cells::reach,
                             .index = search.index,
                             .decide = search.decide},
                            cancel);
}

PartVisit::PartVisit(PartPoints points, const PartView& view, const WeightScale* scale, double radius,
                     const SearchOptions& search, DirectOptions options, const CancelToken& cancel)
    : lent_(view.lent), shared_{{}, static_cast<std::uint32_t>(view.beyond)}, points_(std::move(points)) {
  // Ghosts within are counted and labelled like own points; those beyond miss some neighbours: of these the part knows some that are core,
  // and such are core.
  lent_.resize(view.lent.size() + view.near);
  std::iota(lent_.begin() + static_cast<std::ptrdiff_t>(view.lent.size()), lent_.end(),
            static_cast<std::uint32_t>(view.own));
  shared_.lent = lent_;
  const LoadedPoints& loaded = *points_.loaded;
  index_ = index_of_part(loaded, radius, search, cancel);
  options.shared = &shared_;
  place_ = index_->place(options);
  if (scale != nullptr) {
    weights_.emplace(loaded.load(WholeWeights(*scale, view.units)));
    options.weights = &*weights_;
  }
  options.keep = Keep::labels;  // clusters are made as if labels were
  counted_ = index_->count(options);
  // With those that it misses, a ghost beyond may weigh less than it seems to.
  if (scale != nullptr && scale->negative()) counted_->borrow_levels(std::vector<std::uint16_t>(view.beyond, 0));
}

std::vector<PartSets> PartVisit::unite(std::span<const std::uint32_t> minpts, const PartView& view,
                                       const RowsOf& rows_of, bool ties) {
  std::vector<PartSets> sets;
  for (const std::uint32_t level : minpts) {
    united_ = &counted_->unite(level);
    std::vector<std::uint32_t> first = united_->first_cores();
    const auto own = std::lower_bound(first.begin(), first.end(), view.own);
    PartSets known{rows_of({first.begin(), own}), united_->shared_clusters()};
    // A cluster of ghosts alone has its first core point in another part.
    known.first.resize(first.size(), PartSets::kNoRow);
    known.shared.resize(lent_.size());  // less those beyond
    if (ties) {
      std::vector<std::uint8_t> movable(first.size(), 0);
      for (const std::uint32_t cluster : known.shared) {
        if (cluster != United::kNoSet) movable[cluster] = 1;
      }
      known.ties = united_->border_ties(movable, static_cast<std::uint32_t>(view.own));
    }
    sets.push_back(std::move(known));
  }
  return sets;
}

void PartVisit::label(std::span<const Variant> variants, std::span<const ClusterNumbers> numbers, const Take& take) {
  std::vector<LabelTarget> targets;
  for (std::size_t l = 0; l < variants.size(); ++l) targets.push_back(place_->next());
  const std::vector<LevelResult> found = united_->label(targets, numbers);
  std::size_t l = 0;
  const auto emit = [&](VariantResult&& result) {
    const std::size_t level = l++;
    take(std::move(result), level, found[level]);
  };
  for (const Variant& variant : variants) {
    VariantResult result;
    result.variant = variant;
    place_->take(std::move(result), emit);
  }
  place_->finish(emit);
}

}  // namespace epsflow::parts
