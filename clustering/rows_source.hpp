// Neighbours from rows in memory of the caller, with or without distances: each node of the union-find is a point.
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

/// The part of the rows within one eps. Positions are ids.
class RowsSource final : public ClusterSource {
 public:
  /// rows: symmetric within eps; must outlive the object. Entries farther than eps are ignored; without distances, all
  /// entries are neighbours. weights: null, or the weights that replace numbers of neighbours. minpts: the minpts that
  /// will be clustered. O(entries), in parallel. Throws Cancelled, ResourceError.
  RowsSource(const NeighborsView& rows, double eps, std::span<const std::uint32_t> minpts, const WholeWeights* weights,
             const CancelToken& cancel);

  /// Memory for n points, in bytes.
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
