// Clusters small, sparse data sets one after the other, each from its pairs: the phases on the host for many slices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <epsflow/core/cancel.hpp>
#include <epsflow/core/phases.hpp>
#include <epsflow/index/pair_list.hpp>

namespace epsflow::clustering {

/// All work happens in label(), for all levels of one slice after the other, while its pairs are in the cache. Makes
/// labels and masks of whole data sets; supports neither weights nor clusters as objects.
class PairClustering final : public Counted, private United {
 public:
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

  [[nodiscard]] std::vector<std::uint32_t> first_cores() override;
  [[nodiscard]] std::vector<LevelResult> label(std::span<const LabelTarget> targets) override;
  /// Labels start from 0 in each block. found: [levels] is increased.
  void label_block(const index::PairList::Block& block, std::span<const LabelTarget> targets, Work& work,
                   std::span<BlockCounts> found) const;

  const index::PairList& list_;
  std::size_t levels_at_once_;
  const CancelToken& cancel_;
  std::vector<std::uint32_t> minpts_;  ///< minpts of the levels to label
};

}  // namespace epsflow::clustering
