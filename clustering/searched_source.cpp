#include <epsflow/clustering/searched_source.hpp>

#include <algorithm>
#include <optional>

#include <epsflow/clustering/searched_loops.hpp>
#include <epsflow/core/parallel.hpp>

namespace epsflow::clustering {
namespace {

/// Blocks need not end at ends of bundles: a block of one large bundle would keep one thread busy for long.
constexpr std::uint32_t kSearchedBlockRows = 1024;

}  // namespace

SearchedSource::SearchedSource(const index::SearchIndex& index, const index::RowSearch& rows,
                               std::span<const std::uint32_t> minpts, const CancelToken& cancel, const Ghosts& ghosts,
                               const WholeWeights* weights)
    : index_(index), search_(rows), ghosts_(ghosts), counts_(index.size()) {
  for (std::uint32_t first = 0; first < index.size();) {
    const Range block{first, first + std::min(kSearchedBlockRows, index.size() - first)};
    blocks_.push_back({block, block});
    first = block.end;
  }
  std::optional<const Weighing> weighing;
  if (weights != nullptr) weighing.emplace(*weights, minpts, order(), ghosts);
  parallel_for(blocks_.size(), [&](std::size_t b) {
    if (cancel.cancelled()) return;
    if (weighing) {
      weigh_rows(index_, search_.input(), blocks_[b].rows, *weighing, counts_.data());
    } else {
      count_rows(index_, search_.input(), blocks_[b].rows, minpts.front(), counts_.data());
    }
  });
  cancel.check();
}

void SearchedSource::mark_core(const ClusterBlock& block, const CoreLevel& level, std::uint32_t* parent) {
  for (std::uint32_t x = block.rows.begin; x < block.rows.end; ++x) {
    if (level.gained(counts_[x])) parent[x] = x;
  }
}

void SearchedSource::unite(const ClusterBlock& block, const CoreLevel& level, unsigned, std::uint32_t* parent) {
  unite_rows(index_, search_.input(), block.rows, level, counts_.data(), parent);
}

void SearchedSource::find_clusters(const ClusterBlock& block, const NumberedLevels& levels, std::uint32_t* clusters,
                                   std::uint32_t* core) const {
  const Range rows = block.rows;
  clustering::find_clusters(index_, search_.input(), rows, levels.clusters, clusters);
  *core = 0;
  const auto ids = order();
  for (std::uint32_t x = rows.begin; x < rows.end; ++x) {
    *core += levels.clusters[x] != kNoCluster && !ghosts_.contains(ids[x]) ? 1 : 0;
  }
}

}  // namespace epsflow::clustering
