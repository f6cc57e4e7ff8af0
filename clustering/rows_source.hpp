// Neighbours from rows that somebody else holds, with distances or without: nodes are points.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <epsflow/clustering/cluster_source.hpp>
#include <epsflow/core/buffer.hpp>
#include <epsflow/core/cancel.hpp>
#include <epsflow/core/neighbors_view.hpp>
#include <epsflow/core/weights.hpp>

namespace epsflow::clustering {

/// The rows within one eps. Positions are ids.
class RowsSource final : public ClusterSource {
 public:
  /// rows: symmetric within eps. Entries that are farther than eps are no neighbours; all are where there are no distances.
  /// weights: null, or what to count in place of neighbours. minpts: what it is for. rows must outlive it. O(entries), in
  /// parallel. Throws Cancelled.
  RowsSource(const NeighborsView& rows, double eps, std::span<const std::uint32_t> minpts, const WholeWeights* weights,
             const CancelToken& cancel);

  /// Bytes that it holds for n points.
  [[nodiscard]] static std::uint64_t bytes(std::uint64_t n) noexcept { return 8 * n; }

  [[nodiscard]] std::size_t nodes() const override { return rows_.size(); }
  [[nodiscard]] std::span<const std::uint32_t> order() const override { return order_.span(); }
  [[nodiscard]] std::span<const std::uint32_t> counts() const override { return counts_.span(); }
  [[nodiscard]] std::span<const ClusterBlock> blocks() const override { return blocks_; }
  using ClusterSource::mark_core;
  void mark_core(const ClusterBlock& block, const CoreLevel& level, std::uint32_t* parent) override;
  void unite(const ClusterBlock& block, const CoreLevel& level, unsigned pass, std::uint32_t* parent) override;
  [[nodiscard]] std::uint32_t smallest_id(std::uint32_t node) const override { return node; }
  void find_clusters(const ClusterBlock& block, const NumberedLevels& levels, std::uint32_t* clusters,
                     std::uint32_t* core) const override;

 private:
  /// Calls f(neighbour) for the neighbours of a point.
  template <class F>
  void for_each(std::uint32_t point, F&& f) const;

  const NeighborsView& rows_;
  double eps_;
  Buffer<std::uint32_t> order_;
  Buffer<std::uint32_t> counts_;
  std::vector<ClusterBlock> blocks_;
};

}  // namespace epsflow::clustering
