// Adds up the counts of one level over all parts, if one process holds them.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <epsflow/core/labels.hpp>
#include <epsflow/core/phases.hpp>
#include <epsflow/parts/local_merge.hpp>

namespace epsflow::parts {

/// The counts of the own points of a part.
struct OwnCounts {
  /// Subtracts the inner ghosts, which are the ghosts within one radius of the part, from the counts of a part. found:
  /// the counts with inner ghosts. labels: [inner ghosts] by the numbers that index found.clusters.size. sets: [inner
  /// ghosts] UnitedPart::kNoSet for each ghost that is not core, any other value for the others.
  OwnCounts(const LevelResult& found, std::span<const std::int32_t> labels, std::span<const std::uint32_t> sets);
  OwnCounts() = default;

  LabelSummary counts;               ///< only core, border and noise are of own points
  std::vector<std::uint32_t> sizes;  ///< [clusters] number of own points, by the numbers in the labels
};

/// The counts of all parts.
class LevelTotals {
 public:
  /// Adds a part. owned.sizes must be indexed by the new numbers of sets.local; if the labels have other numbers, the
  /// caller must convert the sizes first. sizes: [clusters of all parts], to which the points of this part are added,
  /// or empty. Runs on several threads itself. Two calls must not overlap.
  void add(const OwnCounts& owned, const NumberedSets& sets, std::span<std::uint32_t> sizes);
  /// Returns the totals. Call it once, after all parts are added. clusters: the number of clusters of all parts.
  [[nodiscard]] LabelSummary summary(std::uint32_t clusters);

 private:
  LabelSummary summary_;
  std::uint64_t largest_ = 0;
  /// For each part and each of its clusters that other parts may share: the cluster's number among all, and how many
  /// points of the cluster the part owns.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> shared_;
};

}  // namespace epsflow::parts
