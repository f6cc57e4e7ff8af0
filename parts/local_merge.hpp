// Merges the clusters of parts in one memory: finds those that are the same, and numbers them.
//
// As in merge.hpp, clusters of two parts are the same if they contain the same core point. Here one union-find holds
// the clusters of all parts, and the sorted rows of the first core points give the numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include <epsflow/core/phases.hpp>
#include <epsflow/parts/part_view.hpp>
#include <epsflow/parts/resident_part.hpp>

namespace epsflow::parts {

/// The clusters of a part at one level.
struct PartSets {
  static constexpr std::uint32_t kNoRow = std::numeric_limits<std::uint32_t>::max();

  std::vector<std::uint32_t> first;  ///< [clusters] row of the first own core point; kNoRow if there is none
  std::vector<std::uint32_t>
      shared;  ///< [send_list + inner] cluster of each sent point and inner ghost; kNoSet: not core
  /// UnitedPart::border_ties(), if they were requested and the backend could find them.
  std::optional<std::vector<BorderTie>> ties = {};

  PartSets() = default;
  /// rows: [found.first] the row of each of these points.
  PartSets(PartClusters&& found, std::vector<std::uint32_t>&& rows);
};

/// The clusters of a part, numbered among the clusters of all parts. A cluster whose core points are all outer ghosts
/// has no number among all: the part cannot find out which cluster it is. No owned point is in it.
struct NumberedSets {
  /// For each cluster that the part found: its new number in the labels of the part, which is its index in the arrays
  /// below. Clusters that are the same get the same number.
  ClusterNumbers local;
  /// [local.count] number of the cluster among all, ascending. The last entry is the number of clusters of all parts if
  /// there are clusters without a number.
  std::vector<std::uint32_t> global;
  std::vector<std::uint8_t> shared;  ///< [local.count] 1 if other parts may have points of the cluster
};

/// The clusters of all parts at one level.
struct MergedSets {
  std::uint32_t count = 0;
  std::vector<std::uint32_t> first_core;  ///< [count] row of the first core point of each
  std::vector<NumberedSets> of_parts;
};

/// Merges the clusters of all parts at one level. views, sets: [parts]. O(clusters · log parts + shared points), in
/// parallel. Clusters are numbered by their smallest core points. Throws ResourceError if there are more clusters than
/// int32 labels can number, or if the parts have more together than 32 bits can number.
[[nodiscard]] MergedSets merge_sets(std::span<const PartView> views, std::span<const PartSets> sets);

}  // namespace epsflow::parts
