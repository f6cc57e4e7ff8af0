#include <epsflow/clustering/dbscan.hpp>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <span>
#include <utility>

#include <epsflow/clustering/label_clusters.hpp>
#include <epsflow/core/buffer.hpp>

namespace epsflow::clustering {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

template <class F>
void parallel_blocks(const ClusterSource& source, const CancelToken& cancel, F&& f) {
  tbb::parallel_for(std::size_t{0}, source.blocks().size(), [&](std::size_t b) {
    if (!cancel.cancelled()) f(source.blocks()[b]);
  });
  cancel.check();
}

/// Union-find over the nodes of a source, level by level.
class Clustering {
 public:
  /// at_once: the most levels that at() is asked for.
  Clustering(const ClusterInput& input, std::size_t at_once, const CancelToken& cancel)
      : input_(input), cancel_(cancel), parent_(input.source.nodes()), number_(input.source.nodes()) {
    if (at_once > 1) clusters_ = Buffer<std::uint32_t>(checked_multiply(parent_.size(), at_once, "clusters"));
    for_nodes([&](std::size_t first, std::size_t last) {
      std::fill(parent_.begin() + first, parent_.begin() + last, kNotCore);
    });
  }

  /// The next levels, descending.
  std::vector<VariantResult> at(std::span<const std::uint32_t> minpts) {
    const std::size_t levels = minpts.size();
    std::vector<VariantResult> results(levels);
    std::vector<LevelLabels> labels(levels);
    for (std::size_t l = 0; l < levels; ++l) {
      const Clock::time_point begin = Clock::now();
      level_.minpts = minpts[l];
      unite();
      labels[l].clusters = number_clusters(input_.source, parent_.span(), number_.span(), cancel_);
      if (levels > 1) {
        for_nodes([&](std::size_t first, std::size_t last) {
          for (std::size_t x = first; x < last; ++x) clusters_[x * levels + l] = number_[x];
        });
      }
      level_.below = minpts[l];
      results[l].seconds = seconds_since(begin);
    }
    const Clock::time_point begin = Clock::now();
    for (std::size_t l = 0; l < levels; ++l) {
      results[l].variant = {input_.eps, minpts[l]};
      results[l].labels = Labels(input_.source.labelled());
      labels[l].labels = results[l].labels.span();
    }
    label_clusters(input_.source, {minpts, levels > 1 ? clusters_.data() : number_.data()}, labels, cancel_);
    for (std::size_t l = 0; l < levels; ++l) {
      results[l].summary = labels[l].summary;
      if (input_.core_mask) fill_mask(minpts[l], results[l]);
    }
    const double share = seconds_since(begin) / static_cast<double>(levels);
    for (VariantResult& result : results) result.seconds += share;
    return results;
  }

 private:
  template <class F>
  void for_nodes(F&& f) {
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, parent_.size(), 1 << 16),
                      [&](const tbb::blocked_range<std::size_t>& r) { f(r.begin(), r.end()); });
  }

  void unite() {
    ClusterSource& source = input_.source;
    parallel_blocks(source, cancel_,
                    [&](const ClusterBlock& block) { source.mark_core(block, level_, parent_.data()); });
    for (unsigned pass = 0; pass < source.passes(); ++pass) {
      parallel_blocks(source, cancel_,
                      [&](const ClusterBlock& block) { source.unite(block, level_, pass, parent_.data()); });
    }
    source.join_images(level_, parent_.data());
  }

  void fill_mask(std::uint32_t minpts, VariantResult& result) const {
    const auto order = input_.source.order();
    const auto counts = input_.source.counts();
    result.core.resize(input_.source.labelled());
    parallel_blocks(input_.source, cancel_, [&](const ClusterBlock& block) {
      for (std::uint32_t x = block.rows.begin; x < block.rows.end; ++x) {
        if (order[x] < result.core.size()) result.core[order[x]] = static_cast<std::uint8_t>(counts[x] >= minpts);
      }
    });
  }

  const ClusterInput& input_;
  const CancelToken& cancel_;
  CoreLevel level_;
  Buffer<std::uint32_t> parent_;
  Buffer<std::uint32_t> number_;
  Buffer<std::uint32_t> clusters_;  ///< [nodes × levels] where several levels are labelled at once
};

}  // namespace

VariantResult cluster(const ClusterInput& input, std::uint32_t minpts, const CancelToken& cancel) {
  return std::move(Clustering(input, 1, cancel).at({&minpts, 1}).front());
}

void cluster_nested(const ClusterInput& input, std::vector<std::uint32_t> minpts, const CancelToken& cancel,
                    const std::function<void(VariantResult&&)>& done) {
  std::sort(minpts.begin(), minpts.end(), std::greater<>());
  const std::size_t at_once = std::min(input.source.levels_at_once(), minpts.size());
  Clustering clustering(input, at_once, cancel);
  for (std::span<const std::uint32_t> rest = minpts; !rest.empty();) {
    const std::size_t levels = std::min(at_once, rest.size());
    for (VariantResult& result : clustering.at(rest.first(levels))) done(std::move(result));
    rest = rest.subspan(levels);
  }
}

}  // namespace epsflow::clustering
