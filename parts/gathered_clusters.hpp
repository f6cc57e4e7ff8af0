// The clusters of one eps as objects (RunOptions::clusters), put together on the first rank from what the parts know of them.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include <epsflow/core/buffer.hpp>
#include <epsflow/core/labels.hpp>
#include <epsflow/parts/distribution.hpp>
#include <epsflow/parts/exchange.hpp>
#include <epsflow/parts/merge.hpp>

namespace epsflow::parts {

/// Levels are looked at by descending minpts, and gathered in that order: some of them may be looked at before they are gathered. A rank
/// holds 4 bytes for each own point, and some for each of its clusters; the first rank those of all.
class GatheredClusters {
 public:
  /// least: the smallest minpts. What is referred to must outlive it.
  GatheredClusters(Exchange& exchange, const Distribution& distribution, std::uint32_t least);

  /// Takes what this part knows of a level. labels, core: [own or more], by merged.local. sizes: [merged.local.count] own points of each.
  /// O(own), in parallel.
  void look(std::span<const std::int32_t> labels, std::span<const std::uint8_t> core, const MergedClusters& merged,
            std::span<const std::uint32_t> sizes);
  /// The clusters of the first level that was looked at and is not gathered: on the first rank, nothing on others. With the smallest minpts
  /// also the births of the points of the share, on each rank. Collective. Throws ResourceError for more clusters than births can tell.
  [[nodiscard]] Clusters gather(std::uint32_t minpts);

 private:
  /// What a part knows of a cluster.
  struct Known {
    std::uint64_t number;  ///< among those of all parts
    std::uint64_t first;   ///< smallest id of an own core point; all bits set where it has none
    std::uint32_t core;    ///< own core points
    std::uint32_t size;    ///< own points
  };
  /// A cluster of the level before, and the one that holds it.
  struct Joined {
    std::uint32_t before;
    std::uint32_t now;
  };
  struct Level {
    std::uint64_t count = 0;  ///< clusters of all parts
    std::vector<Known> known;
    std::vector<Joined> joined;
  };

  Exchange& exchange_;
  const Distribution& distribution_;
  std::uint32_t least_;
  Buffer<std::int32_t> births_;   ///< [own]
  std::uint64_t all_before_ = 0;  ///< clusters of the levels looked at
  std::uint64_t all_gathered_ = 0;
  std::uint64_t before_ = 0;  ///< clusters of the level gathered last
  /// Of the level looked at last: clusters with own core points, and one of these.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> witnesses_;
  std::deque<Level> levels_;  ///< to be gathered
};

}  // namespace epsflow::parts
