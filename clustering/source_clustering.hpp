// Union-find over the nodes of a source, level by level: the phases on the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <epsflow/clustering/cluster_sets.hpp>
#include <epsflow/clustering/cluster_source.hpp>
#include <epsflow/clustering/label_clusters.hpp>
#include <epsflow/core/buffer.hpp>
#include <epsflow/core/cancel.hpp>
#include <epsflow/core/phases.hpp>

namespace epsflow::clustering {

/// Runs the phases unite and label on a source, whose counts are already made. Targets of labels are in host memory.
class SourceClustering final : public CountedPart, private UnitedPart {
 public:
  /// options: the requested results; options.minpts is read only here. The source and the token must outlive it.
  /// O(nodes); in addition the sort of LevelGains if clusters are requested or labels are not, and the search of
  /// ClusterSource::find_borders() for Keep::summary if the source counts borders. Throws Cancelled, ResourceError.
  SourceClustering(ClusterSource& source, const DirectOptions& options, const CancelToken& cancel);
  SourceClustering(std::unique_ptr<ClusterSource> source, const DirectOptions& options, const CancelToken& cancel);

  /// Returns an upper bound on the memory in bytes, without the source, the labels and the list of shared points.
  [[nodiscard]] static std::uint64_t bytes(std::uint64_t nodes, std::uint64_t points, std::size_t levels_at_once,
                                           const DirectOptions& options) noexcept;

  [[nodiscard]] std::size_t levels_at_once() const override { return clusters_.size(); }
  [[nodiscard]] UnitedPart& unite(std::uint32_t minpts) override;
  [[nodiscard]] std::uint64_t undecided_pairs() const override { return source_.undecided_pairs(); }

 private:
  SourceClustering(std::unique_ptr<ClusterSource>&& own, ClusterSource& source, const DirectOptions& options,
                   const CancelToken& cancel);
  [[nodiscard]] std::vector<std::uint32_t> first_cores() override;
  [[nodiscard]] std::vector<LevelResult> label(std::span<const LabelTarget> targets) override;
  [[nodiscard]] std::vector<LevelResult> label(std::span<const LabelTarget> targets,
                                               std::span<const ClusterNumbers> numberings) override;
  [[nodiscard]] std::vector<std::uint32_t> shared_clusters() override;
  /// Returns nullopt: the host does not find ties.
  [[nodiscard]] std::optional<std::vector<BorderTie>> border_ties(std::span<const std::uint8_t>,
                                                                  std::uint32_t) override {
    return std::nullopt;
  }
  void find_shared(const SharedPoints& shared);
  void number();
  [[nodiscard]] std::vector<LevelLabels> label_points(std::span<const LabelTarget> targets);
  [[nodiscard]] LevelLabels count_points();
  [[nodiscard]] LevelLabels count_core() const;
  void fill_mask(std::uint32_t minpts, std::uint8_t* core) const;

  std::unique_ptr<ClusterSource> own_;  ///< the source if this object owns it, or null
  ClusterSource& source_;
  const CancelToken& cancel_;
  CoreLevel level_;
  Buffer<std::uint32_t> parent_;
  Keep keep_;
  std::uint32_t least_;                         ///< the smallest minpts
  std::optional<ClusterSets> sets_;             ///< set if clusters are requested or labels are not
  bool asked_;                                  ///< true if clusters are requested
  std::vector<std::uint32_t> minpts_;           ///< minpts of the levels that are not labelled yet
  std::vector<Clusters> found_;                 ///< clusters of the levels that are not labelled yet, if requested
  std::vector<Buffer<std::uint32_t>> numbers_;  ///< [levels at once] [nodes] the cluster of each node
  std::vector<std::uint32_t> clusters_;         ///< [levels at once] number of clusters
  std::size_t last_ = 0;                        ///< index in numbers_ and clusters_ of the level united last
  bool of_part_;                                ///< true if a part is clustered
  std::vector<NodePoint> shared_;               ///< positions and nodes of SharedPoints::asked
  Buffer<std::uint32_t> together_;              ///< [nodes × levels] for levels that are labelled together
};

}  // namespace epsflow::clustering
