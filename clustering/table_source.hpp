// Neighbours from a finished table: each node of the union-find is a point.
#pragma once

#include <span>
#include <vector>

#include <epsflow/clustering/cluster_source.hpp>
#include <epsflow/clustering/weighing.hpp>
#include <epsflow/core/buffer.hpp>
#include <epsflow/core/cancel.hpp>
#include <epsflow/core/neighbor_table.hpp>

namespace epsflow::clustering {

/// May serve several variants concurrently.
class TableSource final : public ClusterSource {
 public:
  /// order: input id of each position of the table, [n]. The table and the memory of `order` must outlive the object.
  TableSource(const NeighborTable& table, std::span<const std::uint32_t> order);
  /// weights: null, or the weights of the points. Then counts() returns for each point the largest of `minpts` that the
  /// sum of its neighbours' weights reaches, or 0 if it reaches none. O(entries), in parallel. Throws Cancelled,
  /// ResourceError.
  TableSource(const NeighborTable& table, std::span<const std::uint32_t> order, std::span<const std::uint32_t> minpts,
              const WholeWeights* weights, const CancelToken& cancel);

  /// Memory for n points with weights, in bytes. Without weights it is 0.
  [[nodiscard]] static std::uint64_t weighted_bytes(std::uint64_t n) noexcept {
    return n * sizeof(std::uint32_t) + Weighing::bytes(n);
  }

  [[nodiscard]] std::size_t nodes() const override { return table_.size(); }
  [[nodiscard]] std::span<const std::uint32_t> order() const override { return order_; }
  [[nodiscard]] std::span<const std::uint32_t> counts() const override { return counts_; }
  [[nodiscard]] std::span<const ClusterBlock> blocks() const override { return blocks_; }
  using ClusterSource::mark_core;
  void mark_core(const ClusterBlock& block, const CoreLevel& level, std::uint32_t* parent) override;
  void unite(const ClusterBlock& block, const CoreLevel& level, unsigned pass, std::uint32_t* parent) override;
  [[nodiscard]] std::uint32_t smallest_id(std::uint32_t node) const override { return order_[node]; }
  void find_clusters(const ClusterBlock& block, const NumberedLevels& levels, std::uint32_t* clusters,
                     std::uint32_t* core) const override;

 private:
  const NeighborTable& table_;
  std::span<const std::uint32_t> order_;
  std::span<const std::uint32_t> counts_;
  Buffer<std::uint32_t> weighed_;  ///< [n] counts by weights; empty without weights
  std::vector<ClusterBlock> blocks_;
};

}  // namespace epsflow::clustering
