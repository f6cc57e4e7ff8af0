#include <epsflow/clustering/source_clustering.hpp>

#include <algorithm>
#include <atomic>
#include <functional>
#include <utility>

#include <epsflow/clustering/union_find.hpp>
#include <epsflow/core/checked.hpp>
#include <epsflow/core/parallel.hpp>

namespace epsflow::clustering {
namespace {

template <class F>
void parallel_blocks(const ClusterSource& source, const CancelToken& cancel, F&& f) {
  parallel_for(source.blocks().size(), [&](std::size_t b) {
    if (!cancel.cancelled()) f(source.blocks()[b]);
  });
  cancel.check();
}

/// Calls f(x) for the numbers below n, in parallel.
template <class F>
void for_nodes(std::size_t n, F&& f) {
  parallel_ranges(n, 1 << 16, [&](std::size_t first, std::size_t last) {
    for (std::size_t x = first; x < last; ++x) f(x);
  });
}

}  // namespace

SourceClustering::SourceClustering(ClusterSource& source, const DirectOptions& options, const CancelToken& cancel)
    : SourceClustering(std::unique_ptr<ClusterSource>(), source, options, cancel) {}

SourceClustering::SourceClustering(std::unique_ptr<ClusterSource> source, const DirectOptions& options,
                                   const CancelToken& cancel)
    : SourceClustering(std::move(source), *source, options, cancel) {}

SourceClustering::SourceClustering(std::unique_ptr<ClusterSource>&& own, ClusterSource& source,
                                   const DirectOptions& options, const CancelToken& cancel)
    : own_(std::move(own)),
      source_(source),
      cancel_(cancel),
      parent_(source.nodes()),
      keep_(options.keep),
      least_(options.minpts.back()),
      asked_(options.clusters),
      of_part_(options.shared != nullptr) {
  if (asked_ || !keeps_labels(keep_)) sets_.emplace(source, least_, asked_, cancel);
  const std::size_t at_once =
      keeps_labels(keep_) ? std::min(source.levels_at_once(), std::max<std::size_t>(1, options.minpts.size())) : 1;
  clusters_.resize(at_once);
  const bool numbered = keeps_labels(keep_) || (keep_ == Keep::summary && !source.counts_borders());
  for (std::size_t l = 0; numbered && l < at_once; ++l) numbers_.emplace_back(source.nodes());
  if (keep_ == Keep::summary && source.counts_borders()) source.find_borders();
  if (at_once > 1) together_ = Buffer<std::uint32_t>(checked_multiply(source.nodes(), at_once, "clusters"));
  for_nodes(parent_.size(), [&](std::size_t x) { parent_[x] = kNotCore; });
  if (of_part_) find_shared(*options.shared);
}

/// Finds positions and nodes of shared points.
void SourceClustering::find_shared(const SharedPoints& shared) {
  const auto order = source_.order();
  Buffer<std::uint32_t> positions(order.size());
  for_nodes(order.size(), [&](std::size_t p) { positions[order[p]] = static_cast<std::uint32_t>(p); });
  shared_.resize(shared.asked.size());
  const auto starts = source_.node_starts();
  for_nodes(shared_.size(), [&](std::size_t i) {
    const std::uint32_t position = positions[shared.asked[i]];
    const auto after = std::upper_bound(starts.begin(), starts.end(), position);
    shared_[i] = {position, starts.empty() ? position : static_cast<std::uint32_t>(after - starts.begin() - 1)};
  });
  if (shared.outer_may_be_core) return;
  std::vector<PointCount> none;
  for (std::size_t i = order.size() - shared.outer_ghosts; i < order.size(); ++i) none.push_back({positions[i], 0});
  source_.set_counts(none);
}

std::vector<std::uint32_t> SourceClustering::shared_clusters() {
  static_assert(kNoSet == kNoCluster);
  const auto counts = source_.counts();
  const std::uint32_t minpts = minpts_.back();
  std::vector<std::uint32_t> clusters(shared_.size());
  for_nodes(shared_.size(), [&](std::size_t i) {
    // A node may have points that are not core besides core points.
    clusters[i] = counts[shared_[i].position] >= minpts ? numbers_[last_][shared_[i].node] : kNoSet;
  });
  return clusters;
}

std::uint64_t SourceClustering::bytes(std::uint64_t nodes, std::uint64_t points, std::size_t levels_at_once,
                                      const DirectOptions& options) noexcept {
  const std::uint64_t sets =
      options.clusters || !keeps_labels(options.keep) ? ClusterSets::bytes(nodes, points, options.clusters) : 0;
  return sets + nodes * sizeof(std::uint32_t) * (1 + levels_at_once + (levels_at_once > 1 ? levels_at_once : 0));
}

UnitedPart& SourceClustering::unite(std::uint32_t minpts) {
  level_.minpts = minpts;
  if (sets_) {
    sets_->begin(minpts);
    parallel_for(source_.blocks().size(),
                 [&](std::size_t b) { source_.mark_core(source_.blocks()[b], sets_->gained(b), parent_.data()); });
  } else {
    parallel_blocks(source_, cancel_,
                    [&](const ClusterBlock& block) { source_.mark_core(block, level_, parent_.data()); });
  }
  for (unsigned pass = 0; pass < source_.passes(); ++pass) {
    parallel_blocks(source_, cancel_,
                    [&](const ClusterBlock& block) { source_.unite(block, level_, pass, parent_.data()); });
  }
  source_.join_ghosts(level_, parent_.data());
  last_ = minpts_.size();
  number();
  minpts_.push_back(minpts);
  level_.below = minpts;
  return *this;
}

/// Numbers the clusters of the level, and each node if points will be labelled.
void SourceClustering::number() {
  if (sets_) sets_->add(parent_.span(), cancel_);
  if (asked_) {
    found_.push_back(sets_->take_clusters());
    if (level_.minpts == least_) found_.back().core_since = sets_->take_core_since();
  }
  if (keeps_labels(keep_)) {
    clusters_[last_] = number_clusters(source_, parent_.span(), numbers_[last_].span(), cancel_);
  } else {
    clusters_[last_] = sets_->count();
  }
}

std::vector<std::uint32_t> SourceClustering::first_cores() {
  if (sets_) return sets_->first_cores();
  return find_first_cores(source_, numbers_[last_].span(), clusters_[last_], cancel_);
}

std::vector<LevelResult> SourceClustering::label(std::span<const LabelTarget> targets,
                                                 std::span<const ClusterNumbers> numberings) {
  for (std::size_t l = 0; l < numberings.size(); ++l) {
    for_nodes(parent_.size(), [&](std::size_t x) {
      std::uint32_t& number = numbers_[l][x];
      if (number != kNoCluster) number = numberings[l].numbers[number];
    });
    clusters_[l] = numberings[l].count;
  }
  return label(targets);
}

std::vector<LevelResult> SourceClustering::label(std::span<const LabelTarget> targets) {
  std::vector<LevelLabels> levels;
  if (!tells_borders(keep_)) {
    levels.push_back(count_core());
  } else if (keep_ == Keep::summary && source_.counts_borders()) {
    levels.push_back(count_points());
  } else {
    levels = label_points(targets);
  }
  std::vector<LevelResult> results(levels.size());
  for (std::size_t l = 0; l < levels.size(); ++l) {
    results[l].summary = levels[l].summary;
    if (asked_) results[l].clusters = std::move(found_[l]);
    if (asked_ || of_part_) results[l].clusters.size = std::move(levels[l].sizes);
    if (targets[l].core != nullptr) fill_mask(minpts_[l], targets[l].core);
  }
  minpts_.clear();
  found_.clear();
  return results;
}

std::vector<LevelLabels> SourceClustering::label_points(std::span<const LabelTarget> targets) {
  const std::size_t count = minpts_.size();
  const std::uint32_t* clusters = numbers_.front().data();
  if (keep_ == Keep::summary) {
    const UnionFind sets(parent_.span());
    for_nodes(parent_.size(), [&](std::size_t x) {
      const auto node = static_cast<std::uint32_t>(x);
      numbers_[0][x] = sets.parent(node) == kNotCore ? kNoCluster : sets_->number(sets.find(node));
    });
  } else if (count > 1) {
    for_nodes(parent_.size(), [&](std::size_t x) {
      for (std::size_t l = 0; l < count; ++l) together_[x * count + l] = numbers_[l][x];
    });
    clusters = together_.data();
  }
  std::vector<LevelLabels> levels(count);
  for (std::size_t l = 0; l < count; ++l) {
    levels[l].clusters = clusters_[l];
    if (targets[l].labels != nullptr) levels[l].labels = {targets[l].labels, source_.labelled()};
  }
  label_clusters(source_, {minpts_, clusters}, levels, cancel_);
  return levels;
}

/// Counts without labels: core points are already counted, only border points are searched.
LevelLabels SourceClustering::count_points() {
  LevelLabels level{.clusters = sets_->count(), .labels = {}, .summary = {}, .sizes = sets_->core_counts()};
  std::atomic<std::uint64_t> borders{0};
  parallel_for(source_.blocks().size(), [&](std::size_t b) {
    if (cancel_.cancelled()) return;
    borders += source_.count_borders(b, minpts_.front(), parent_.data(), sets_->numbers(), level.sizes.data());
  });
  cancel_.check();
  level.summary.clusters = level.clusters;
  level.summary.core = sets_->core();
  level.summary.border = borders;
  level.summary.noise = source_.labelled() - level.summary.core - level.summary.border;
  level.summary.largest = level.sizes.empty() ? 0 : *std::max_element(level.sizes.begin(), level.sizes.end());
  return level;
}

/// Returns the counts that need no search of points.
LevelLabels SourceClustering::count_core() const {
  return {.clusters = sets_->count(),
          .labels = {},
          .summary = {.clusters = sets_->count(), .core = sets_->core(), .borders_told = false},
          .sizes = {}};
}

void SourceClustering::fill_mask(std::uint32_t minpts, std::uint8_t* core) const {
  const auto order = source_.order();
  const auto counts = source_.counts();
  const std::size_t labelled = source_.labelled();
  parallel_blocks(source_, cancel_, [&](const ClusterBlock& block) {
    for (std::uint32_t x = block.rows.begin; x < block.rows.end; ++x) {
      if (order[x] < labelled) core[order[x]] = static_cast<std::uint8_t>(counts[x] >= minpts);
    }
  });
}

}  // namespace epsflow::clustering
