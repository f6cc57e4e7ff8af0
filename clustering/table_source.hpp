// Neighbours from a finished table: nodes are points.
#pragma once

#include <span>
#include <vector>

#include <epsflow/clustering/cluster_source.hpp>
#include <epsflow/core/neighbor_table.hpp>

namespace epsflow::clustering {

/// May serve several variants at once.
class TableSource final : public ClusterSource {
 public:
  /// order: input id of each position of the table, [n]. Both must outlive it.
  TableSource(const NeighborTable& table, std::span<const std::uint32_t> order);

  [[nodiscard]] std::size_t nodes() const override { return table_.size(); }
  [[nodiscard]] std::span<const std::uint32_t> order() const override { return order_; }
  [[nodiscard]] std::span<const std::uint32_t> counts() const override { return table_.counts(); }
  [[nodiscard]] std::span<const ClusterBlock> blocks() const override { return blocks_; }
  void mark_core(const ClusterBlock& block, const CoreLevel& level, std::uint32_t* parent) override;
  void unite(const ClusterBlock& block, const CoreLevel& level, unsigned pass, std::uint32_t* parent) override;
  [[nodiscard]] std::uint32_t smallest_id(std::uint32_t node) const override { return order_[node]; }
  void find_clusters(const ClusterBlock& block, const NumberedLevels& levels, std::uint32_t* clusters,
                     std::uint32_t* core) const override;

 private:
  const NeighborTable& table_;
  std::span<const std::uint32_t> order_;
  std::vector<ClusterBlock> blocks_;
};

}  // namespace epsflow::clustering
