// The clusters of parts in one memory put together: which are the same, and what number each gets.
//
// As in merge.hpp, clusters of two parts are one where they hold the same core point. Here one union-find has the clusters of all parts, and
// the rows of their first core points, sorted, tell their numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include <epsflow/core/phases.hpp>
#include <epsflow/parts/part_view.hpp>
#include <epsflow/parts/part_visit.hpp>

namespace epsflow::parts {

/// What a part knows of the clusters of a level.
struct PartSets {
  static constexpr std::uint32_t kNoRow = std::numeric_limits<std::uint32_t>::max();

  std::vector<std::uint32_t> first;  ///< [clusters] row of the first own core point; kNoRow where there is none
  std::vector<std::uint32_t>
      shared;  ///< [lent + near] the clusters that lent points, and ghosts within reach, are core points of
  /// UnitedPart::border_ties(), where they were asked for and the backend tells them.
  std::optional<std::vector<BorderTie>> ties = {};

  PartSets() = default;
  /// rows: of found.first.
  PartSets(PartVisit::Found&& found, std::vector<std::uint32_t>&& rows);
};

/// The clusters of a part among those of all.
struct NumberedSets {
  ClusterNumbers local;  ///< numbers by which the part labels: in the order of the numbers of all
  std::vector<std::uint32_t>
      global;  ///< [local.count] the number of each among all; that of no cluster where no point is anybody's own
  std::vector<std::uint8_t> shared;  ///< [local.count] 1 where other parts may have points of it
};

/// The clusters of a level.
struct MergedSets {
  std::uint32_t count = 0;
  std::vector<std::uint32_t> first_core;  ///< [count] rows of their first core points
  std::vector<NumberedSets> of_parts;
};

/// views, sets: of all parts. O(clusters · log parts + shared points), in parallel. Clusters are numbered by their smallest
/// core points. Throws ResourceError for more clusters than labels can tell.
[[nodiscard]] MergedSets merge_sets(std::span<const PartView> views, std::span<const PartSets> sets);

}  // namespace epsflow::parts
