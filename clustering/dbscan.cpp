#include <epsflow/clustering/dbscan.hpp>

#include <algorithm>
#include <functional>
#include <utility>

#include <epsflow/clustering/source_clustering.hpp>
#include <epsflow/core/stopwatch.hpp>

namespace epsflow::clustering {
void cluster_levels(Counted& counted, LabelStore& store, double eps, std::span<const std::uint32_t> minpts,
                    const LabelStore::Emit& emit) {
  while (!minpts.empty()) {
    const auto levels = minpts.first(std::min(counted.levels_at_once(), minpts.size()));
    minpts = minpts.subspan(levels.size());
    std::vector<VariantResult> results(levels.size());
    std::vector<LabelTarget> targets(levels.size());
    United* united = nullptr;
    for (std::size_t l = 0; l < levels.size(); ++l) {
      const Stopwatch time;
      united = &counted.unite(levels[l]);
      results[l].variant = {eps, levels[l]};
      results[l].seconds = time.seconds();
    }
    const Stopwatch time;
    for (LabelTarget& target : targets) target = store.next();
    std::vector<LevelResult> labelled = united->label(targets);
    const double share = time.seconds() / static_cast<double>(levels.size());
    for (std::size_t l = 0; l < levels.size(); ++l) {
      results[l].summary = labelled[l].summary;
      results[l].clusters = std::move(labelled[l].clusters);
      results[l].seconds += share;
    }
    for (VariantResult& result : results) store.take(std::move(result), emit);
  }
  store.finish(emit);
}

LabelTarget HostLabels::next() {
  LabelBuffers& buffers = buffers_.emplace_back(LabelBuffers{Labels(n_), {}});
  if (core_mask_) buffers.core.resize(n_);
  return {buffers.labels.data(), core_mask_ ? buffers.core.data() : nullptr};
}

void HostLabels::take(VariantResult&& result, const Emit& emit) {
  result.labels = std::move(buffers_.front().labels);
  result.core = std::move(buffers_.front().core);
  buffers_.pop_front();
  emit(std::move(result));
}

std::unique_ptr<LabelStore> make_host_store(std::size_t n, const DirectOptions& options) {
  if (!keeps_labels(options.keep)) return std::make_unique<NoLabels>();
  return std::make_unique<HostLabels>(n, options.core_mask);
}

VariantResult cluster(const ClusterInput& input, std::uint32_t minpts, const CancelToken& cancel) {
  VariantResult made;
  cluster_nested(input, {minpts}, cancel, [&](VariantResult&& result) { made = std::move(result); });
  return made;
}

void cluster_nested(const ClusterInput& input, std::vector<std::uint32_t> minpts, const CancelToken& cancel,
                    const LabelStore::Emit& emit) {
  std::sort(minpts.begin(), minpts.end(), std::greater<>());
  const DirectOptions options{
      .minpts = minpts, .core_mask = input.core_mask, .keep = input.keep, .clusters = input.clusters};
  SourceClustering counted(input.source, options, cancel);
  const std::unique_ptr<LabelStore> store = make_host_store(input.source.labelled(), options);
  cluster_levels(counted, *store, input.eps, minpts, emit);
}

}  // namespace epsflow::clustering
