#include <epsflow/parts/resident_part.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

#include <epsflow/index/cell_axes.hpp>

namespace epsflow::parts {

ResidentPart::ResidentPart(PartPoints points, const PartView& view, const WeightScale* scale, const PartSearch& search,
                           DirectOptions options)
    : asked_(view.send_list), points_(std::move(points)) {
  asked_.resize(view.send_list.size() + view.inner);
  std::iota(asked_.begin() + static_cast<std::ptrdiff_t>(view.send_list.size()), asked_.end(),
            static_cast<std::uint32_t>(view.owned));
  shared_ = {.asked = asked_,
             .outer_ghosts = static_cast<std::uint32_t>(view.outer),
             .outer_may_be_core = scale == nullptr || !scale->negative()};
  const LoadedPoints& loaded = *points_.loaded;
  index_ = loaded.build_index({.eps = search.radius,
                               .cells = loaded.dims() <= index::kMostDenseBoxDims ? Cells::dense_box : Cells::eps,
                               .index = search.options.index,
                               .decide = search.options.decide},
                              search.cancel);
  options.shared = &shared_;
  store_ = index_->label_store(options);
  if (scale != nullptr) {
    weights_.emplace(loaded.load(WholeWeights(*scale, view.units)));
    options.weights = &*weights_;
  }
  options.keep = Keep::labels;  // clusters are numbered as if labels were stored
  counted_ = index_->count_part(options);
}

std::vector<PartClusters> ResidentPart::unite(std::span<const std::uint32_t> minpts, const PartView& view, bool ties) {
  std::vector<PartClusters> levels;
  for (const std::uint32_t level : minpts) {
    united_ = &counted_->unite(level);
    PartClusters found{.first = united_->first_cores(), .shared = united_->shared_clusters()};
    found.count = found.first.size();
    found.first.erase(std::lower_bound(found.first.begin(), found.first.end(), view.owned), found.first.end());
    if (ties) {
      std::vector<std::uint8_t> movable(found.count, 0);
      for (const std::uint32_t cluster : found.shared) {
        if (cluster != UnitedPart::kNoSet) movable[cluster] = 1;
      }
      found.ties = united_->border_ties(movable, static_cast<std::uint32_t>(view.owned));
    }
    levels.push_back(std::move(found));
  }
  return levels;
}

void ResidentPart::label(std::span<const Variant> variants, std::span<const ClusterNumbers> numbers, const Take& take) {
  std::vector<LabelTarget> targets;
  for (std::size_t l = 0; l < variants.size(); ++l) targets.push_back(store_->next());
  const std::vector<LevelResult> found = united_->label(targets, numbers);
  std::size_t l = 0;
  const auto emit = [&](VariantResult&& result) {
    const std::size_t level = l++;
    take(std::move(result), level, found[level]);
  };
  for (const Variant& variant : variants) {
    VariantResult result;
    result.variant = variant;
    store_->take(std::move(result), emit);
  }
  store_->finish(emit);
}

}  // namespace epsflow::parts
