#include <epsflow/clustering/source_clustering.hpp>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <utility>

#include <epsflow/clustering/label_clusters.hpp>

namespace epsflow::clustering {
namespace {

template <class F>
void parallel_blocks(const ClusterSource& source, const CancelToken& cancel, F&& f) {
  tbb::parallel_for(std::size_t{0}, source.blocks().size(), [&](std::size_t b) {
    if (!cancel.cancelled()) f(source.blocks()[b]);
  });
  cancel.check();
}

/// Calls f(first, last) for ranges of nodes, in parallel.
template <class F>
void for_nodes(std::size_t nodes, F&& f) {
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, nodes, 1 << 16),
                    [&](const tbb::blocked_range<std::size_t>& r) { f(r.begin(), r.end()); });
}

}  // namespace

SourceClustering::SourceClustering(ClusterSource& source, std::size_t levels, const CancelToken& cancel)
    : SourceClustering(std::unique_ptr<ClusterSource>(), source, levels, cancel) {}

SourceClustering::SourceClustering(std::unique_ptr<ClusterSource> source, std::size_t levels, const CancelToken& cancel)
    : SourceClustering(std::move(source), *source, levels, cancel) {}

SourceClustering::SourceClustering(std::unique_ptr<ClusterSource>&& own, ClusterSource& source, std::size_t levels,
                                   const CancelToken& cancel)
    : own_(std::move(own)), source_(source), cancel_(cancel), parent_(source.nodes()) {
  const std::size_t at_once = std::min(source.levels_at_once(), levels);
  for (std::size_t l = 0; l < at_once; ++l) numbers_.emplace_back(source.nodes());
  clusters_.resize(at_once);
  if (at_once > 1) together_ = Buffer<std::uint32_t>(checked_multiply(source.nodes(), at_once, "clusters"));
  for_nodes(parent_.size(), [&](std::size_t first, std::size_t last) {
    std::fill(parent_.begin() + first, parent_.begin() + last, kNotCore);
  });
}

United& SourceClustering::unite(std::uint32_t minpts) {
  level_.minpts = minpts;
  parallel_blocks(source_, cancel_,
                  [&](const ClusterBlock& block) { source_.mark_core(block, level_, parent_.data()); });
  for (unsigned pass = 0; pass < source_.passes(); ++pass) {
    parallel_blocks(source_, cancel_,
                    [&](const ClusterBlock& block) { source_.unite(block, level_, pass, parent_.data()); });
  }
  source_.join_ghosts(level_, parent_.data());
  level_.below = minpts;
  last_ = minpts_.size();
  clusters_[last_] = number_clusters(source_, parent_.span(), numbers_[last_].span(), cancel_);
  minpts_.push_back(minpts);
  return *this;
}

std::vector<std::uint32_t> SourceClustering::first_cores() {
  return find_first_cores(source_, numbers_[last_].span(), clusters_[last_], cancel_);
}

std::vector<LabelSummary> SourceClustering::label(std::span<const LabelTarget> targets) {
  const std::size_t count = minpts_.size();
  const std::uint32_t* clusters = numbers_.front().data();
  if (count > 1) {
    for_nodes(parent_.size(), [&](std::size_t first, std::size_t last) {
      for (std::size_t x = first; x < last; ++x) {
        for (std::size_t l = 0; l < count; ++l) together_[x * count + l] = numbers_[l][x];
      }
    });
    clusters = together_.data();
  }
  std::vector<LevelLabels> levels(count);
  for (std::size_t l = 0; l < count; ++l) {
    levels[l].clusters = clusters_[l];
    levels[l].labels = {targets[l].labels, source_.labelled()};
  }
  label_clusters(source_, {minpts_, clusters}, levels, cancel_);
  std::vector<LabelSummary> summaries;
  for (std::size_t l = 0; l < count; ++l) {
    summaries.push_back(levels[l].summary);
    if (targets[l].core != nullptr) fill_mask(minpts_[l], targets[l].core);
  }
  minpts_.clear();
  return summaries;
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
