// Gathers the Clusters (core/labels.hpp) of one eps from all parts on the first rank.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include <epsflow/core/buffer.hpp>
#include <epsflow/core/labels.hpp>
#include <epsflow/parts/communicator.hpp>
#include <epsflow/parts/distribution.hpp>
#include <epsflow/parts/merge.hpp>

namespace epsflow::parts {

/// Call add() for each level by descending minpts, and gather() for each level in the same order. add() may be called
/// for several levels before gather() is called for the first of them. A rank holds 4 bytes for each own point, and
/// about 40 for each of its clusters at levels that are not gathered yet; the first rank holds the clusters of all
/// ranks in gather().
class GatheredClusters {
 public:
  /// least: the smallest minpts. communicator and distribution must outlive the object.
  GatheredClusters(Communicator& communicator, const Distribution& distribution, std::uint32_t least);

  /// Takes the clusters of this part at the next level. labels, core: [own or more] own points first; entries after
  /// them are ignored. The labels are the new numbers of merged.local. sizes: [merged.local.count] number of own points
  /// of each cluster. Not collective. O(own), in parallel.
  void add(std::span<const std::int32_t> labels, std::span<const std::uint8_t> core, const MergedClusters& merged,
           std::span<const std::uint32_t> sizes);
  /// Gathers the first level that is not gathered yet. Returns its clusters on the first rank, and empty ones on the
  /// others. minpts: of the level. At the smallest minpts the result of every rank also has core_since, for the rows of
  /// its share. Collective. Throws ResourceError if the levels gathered so far, with this one, have more clusters
  /// together than core_since can number.
  [[nodiscard]] Clusters gather(std::uint32_t minpts);

 private:
  /// The share of one part in a cluster.
  struct Known {
    std::uint64_t number;  ///< number of the cluster among the clusters of all parts
    std::uint64_t first;   ///< smallest id of an own core point; all bits set if there is none
    std::uint32_t core;    ///< number of own core points
    std::uint32_t size;    ///< number of own points
  };
  /// A cluster of the level before, and the cluster that contains it now.
  struct ParentCluster {
    std::uint32_t before;
    std::uint32_t now;
  };
  struct EpsLevel {
    std::uint64_t count = 0;  ///< number of clusters of all parts
    std::vector<Known> known;
    std::vector<ParentCluster> joined;
  };

  Communicator& communicator_;
  const Distribution& distribution_;
  std::uint32_t least_;
  Buffer<std::int32_t> core_since_;  ///< [own]
  std::uint64_t all_before_ = 0;     ///< number of clusters of all levels passed to add()
  std::uint64_t all_gathered_ = 0;   ///< number of clusters of all levels gathered
  std::uint64_t before_ = 0;         ///< number of clusters of the level gathered last
  /// For each cluster that has own core points at the level of the last add(): the number of the cluster, and one of
  /// these core points.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> witnesses_;
  std::deque<EpsLevel> levels_;  ///< levels passed to add() and not gathered yet
};

}  // namespace epsflow::parts
