// Union-find over the nodes of a source, level by level: the phases on the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <epsflow/clustering/cluster_source.hpp>
#include <epsflow/core/buffer.hpp>
#include <epsflow/core/cancel.hpp>
#include <epsflow/core/phases.hpp>

namespace epsflow::clustering {

/// The source has counted when it was made. Targets of labels are in host memory.
class SourceClustering final : public Counted, private United {
 public:
  /// levels: how many are to come. The source and the token must outlive it. O(nodes).
  SourceClustering(ClusterSource& source, std::size_t levels, const CancelToken& cancel);
  SourceClustering(std::unique_ptr<ClusterSource> source, std::size_t levels, const CancelToken& cancel);

  /// Bytes that it takes, without the source and the labels.
  [[nodiscard]] static std::uint64_t bytes(std::uint64_t nodes, std::size_t levels_at_once) noexcept {
    return nodes * sizeof(std::uint32_t) * (1 + levels_at_once + (levels_at_once > 1 ? levels_at_once : 0));
  }

  [[nodiscard]] std::size_t levels_at_once() const override { return numbers_.size(); }
  [[nodiscard]] United& unite(std::uint32_t minpts) override;
  [[nodiscard]] std::uint64_t open_pairs() const override { return source_.open_pairs(); }

 private:
  SourceClustering(std::unique_ptr<ClusterSource>&& own, ClusterSource& source, std::size_t levels,
                   const CancelToken& cancel);
  [[nodiscard]] std::vector<std::uint32_t> first_cores() override;
  [[nodiscard]] std::vector<LabelSummary> label(std::span<const LabelTarget> targets) override;
  void fill_mask(std::uint32_t minpts, std::uint8_t* core) const;

  std::unique_ptr<ClusterSource> own_;  ///< or null
  ClusterSource& source_;
  const CancelToken& cancel_;
  CoreLevel level_;
  Buffer<std::uint32_t> parent_;
  std::vector<std::uint32_t> minpts_;           ///< of the levels that are not labelled yet
  std::vector<Buffer<std::uint32_t>> numbers_;  ///< [levels at once] [nodes] the cluster of each node
  std::vector<std::uint32_t> clusters_;         ///< [levels at once] how many these are
  std::size_t last_ = 0;                        ///< the last level, among these
  Buffer<std::uint32_t> together_;              ///< [nodes × levels] for levels that are labelled together
};

}  // namespace epsflow::clustering
