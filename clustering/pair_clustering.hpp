// Clusters a small, sparse data set, or many slices, on the host, from lists of the pairs of neighbours in each slice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <epsflow/core/cancel.hpp>
#include <epsflow/core/phases.hpp>
#include <epsflow/index/pair_list.hpp>

namespace epsflow::clustering {

/// Makes labels and core masks from a PairList. All work happens in label(); unite() only stores the minpts. A thread
/// labels one slice for every minpts of the call, while the pairs of the slice are in the cache, and then the next
/// slice; with fewer blocks than threads, for some of the minpts. Clusters of all slices are numbered together, slice
/// by slice.
class PairClustering final : public Counted, private United {
 public:
  /// options: with Keep::labels in host memory; without weights, clusters and SharedPoints, which are not supported.
  /// The list and the token must outlive the object.
  PairClustering(const index::PairList& list, const DirectOptions& options, const CancelToken& cancel)
      : list_(list), levels_at_once_(options.minpts.size()), cancel_(cancel) {}

  [[nodiscard]] std::size_t levels_at_once() const override;
  [[nodiscard]] United& unite(std::uint32_t minpts) override;

 private:
  struct Work;
  /// The counts of a level in one block.
  struct BlockCounts {
    std::uint64_t clusters = 0;
    std::uint64_t core = 0;
    std::uint64_t border = 0;
    std::uint64_t largest = 0;
  };

  /// Throws Error, because PairClustering does not support this function.
  [[nodiscard]] std::vector<std::uint32_t> first_cores() override;
  /// Labels the blocks in parallel, then adds to the labels of each block the number of clusters in the blocks before
  /// it. Throws Cancelled, and ResourceError if a level has more than 2^31 - 1 clusters.
  [[nodiscard]] std::vector<LevelResult> label(std::span<const LabelTarget> targets) override;
  /// Labels the slices of a block, which are consecutive. Clusters are numbered from 0 in each block, as label() adds
  /// the clusters of earlier blocks. minpts, targets, found: [levels]. found: all counts are 0 before; they become the
  /// counts of the block.
  void label_block(const index::PairList::Block& block, std::span<const std::uint32_t> minpts,
                   std::span<const LabelTarget> targets, Work& work, std::span<BlockCounts> found) const;

  const index::PairList& list_;
  std::size_t levels_at_once_;  ///< number of minpts; levels_at_once() returns at most kLevelsAtOnce
  const CancelToken& cancel_;
  std::vector<std::uint32_t> minpts_;  ///< minpts of the levels to label
};

}  // namespace epsflow::clustering
