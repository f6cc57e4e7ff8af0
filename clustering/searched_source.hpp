// Neighbours from a search on the fly, in any number of dimensions: each node of the union-find is a point.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <epsflow/clustering/cluster_source.hpp>
#include <epsflow/clustering/weighing.hpp>
#include <epsflow/core/buffer.hpp>
#include <epsflow/core/cancel.hpp>
#include <epsflow/index/row_search.hpp>
#include <epsflow/index/search_index.hpp>

namespace epsflow::clustering {

/// Searches each point once to count its neighbours, as far as minpts requires, and again when it becomes core;
/// candidates that are already in its set are then skipped without a test, 32 at a time. Points that are not core are
/// searched once more for each minpts. Stores only the counts.
class SearchedSource final : public ClusterSource {
 public:
  /// Counts neighbours up to the largest minpts, in parallel. `index` and `rows`, a search of this index, must outlive
  /// the object. minpts: descending, at least one. ghosts: ghosts among the points of the index. weights: null, or the
  /// weights that replace numbers of neighbours. Throws Cancelled, ResourceError.
  SearchedSource(const index::SearchIndex& index, const index::RowSearch& rows, std::span<const std::uint32_t> minpts,
                 const CancelToken& cancel, const Ghosts& ghosts, const WholeWeights* weights = nullptr);

  /// Memory for n points, in bytes.
  [[nodiscard]] static std::uint64_t bytes(std::uint64_t n, bool weighted) noexcept {
    return n * sizeof(std::uint32_t) + (weighted ? Weighing::bytes(n) : 0);
  }

  [[nodiscard]] std::size_t nodes() const override { return index_.size(); }
  [[nodiscard]] std::span<const std::uint32_t> order() const override { return index_.order(); }
  [[nodiscard]] std::span<const std::uint32_t> counts() const override { return counts_.span(); }
  [[nodiscard]] Ghosts ghosts() const override { return ghosts_; }
  void set_counts(std::span<const PointCount> counts) override {
    for (const auto& [position, count] : counts) counts_[position] = count;
  }
  [[nodiscard]] std::span<const ClusterBlock> blocks() const override { return blocks_; }
  [[nodiscard]] std::uint64_t undecided_pairs() const override { return search_.undecided_pairs(); }
  using ClusterSource::mark_core;
  void mark_core(const ClusterBlock& block, const CoreLevel& level, std::uint32_t* parent) override;
  void unite(const ClusterBlock& block, const CoreLevel& level, unsigned pass, std::uint32_t* parent) override;
  [[nodiscard]] std::uint32_t smallest_id(std::uint32_t node) const override { return index_.order()[node]; }
  void find_clusters(const ClusterBlock& block, const NumberedLevels& levels, std::uint32_t* clusters,
                     std::uint32_t* core) const override;

 private:
  const index::SearchIndex& index_;
  const index::RowSearch& search_;
  std::vector<ClusterBlock> blocks_;
  Ghosts ghosts_;
  Buffer<std::uint32_t> counts_;  ///< [n]
};

}  // namespace epsflow::clustering
