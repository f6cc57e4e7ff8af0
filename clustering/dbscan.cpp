#include <epsflow/clustering/dbscan.hpp>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <chrono>

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
  Clustering(const ClusterInput& input, const CancelToken& cancel)
      : input_(input), cancel_(cancel), parent_(input.source.nodes()), number_(input.source.nodes()) {
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, parent_.size(), 1 << 16),
                      [&](const tbb::blocked_range<std::size_t>& r) {
                        std::fill(parent_.begin() + r.begin(), parent_.begin() + r.end(), kNotCore);
                      });
  }

  VariantResult at(const CoreLevel& level) {
    const Clock::time_point begin = Clock::now();
    VariantResult result{{input_.eps, level.minpts}, {}, {}, 0};
    unite(level);
    result.labels = Labels(input_.source.order().size());
    result.summary =
        label_clusters(input_.source, level.minpts, parent_.span(), number_.span(), result.labels.span(), cancel_);
    if (input_.core_mask) fill_mask(level.minpts, result);
    result.seconds = seconds_since(begin);
    return result;
  }

 private:
  void unite(const CoreLevel& level) {
    ClusterSource& source = input_.source;
    parallel_blocks(source, cancel_,
                    [&](const ClusterBlock& block) { source.mark_core(block, level, parent_.data()); });
    for (unsigned pass = 0; pass < source.passes(); ++pass) {
      parallel_blocks(source, cancel_,
                      [&](const ClusterBlock& block) { source.unite(block, level, pass, parent_.data()); });
    }
  }

  void fill_mask(std::uint32_t minpts, VariantResult& result) const {
    const auto order = input_.source.order();
    const auto counts = input_.source.counts();
    result.core.resize(order.size());
    parallel_blocks(input_.source, cancel_, [&](const ClusterBlock& block) {
      for (std::uint32_t x = block.rows.begin; x < block.rows.end; ++x) {
        result.core[order[x]] = static_cast<std::uint8_t>(counts[x] >= minpts);
      }
    });
  }

  const ClusterInput& input_;
  const CancelToken& cancel_;
  Buffer<std::uint32_t> parent_;
  Buffer<std::uint32_t> number_;
};

}  // namespace

VariantResult cluster(const ClusterInput& input, std::uint32_t minpts, const CancelToken& cancel) {
  return Clustering(input, cancel).at({.minpts = minpts});
}

void cluster_nested(const ClusterInput& input, std::vector<std::uint32_t> minpts, const CancelToken& cancel,
                    const std::function<void(VariantResult&&)>& done) {
  std::sort(minpts.begin(), minpts.end(), std::greater<>());
  Clustering clustering(input, cancel);
  CoreLevel level;
  for (const std::uint32_t next : minpts) {
    level.minpts = next;
    done(clustering.at(level));
    level.below = next;
  }
}

}  // namespace epsflow::clustering
