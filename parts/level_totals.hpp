// Adds up the counts of one level over parts in one memory.
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
  /// found: the counts of own points and inner ghosts. labels: [inner ghosts]. sets:
  /// [inner ghosts] the cluster of each ghost that is core, and UnitedPart::kNoSet of the others.
  OwnCounts(const LevelResult& found, std::span<const std::int32_t> labels, std::span<const std::uint32_t> sets);
  OwnCounts() = default;

  LabelSummary counts;               ///< number of core, border and noise points
  std::vector<std::uint32_t> sizes;  ///< [clusters] number of own points, by the numbers in the labels
};

/// The counts of all parts.
class LevelTotals {
 public:
  /// Adds a part. OwnCounts::sizes must be indexed by the numbers of NumberedSets::local. sizes: [clusters of all
  /// parts], to which the points of this part are added, or empty. In parallel.
  void add(const OwnCounts& owned, const NumberedSets& sets, std::span<std::uint32_t> sizes);
  /// Returns the totals. Call it once, after all parts are added. clusters: the number of clusters of all parts.
  [[nodiscard]] LabelSummary summary(std::uint32_t clusters);

 private:
  LabelSummary summary_;
  std::uint64_t largest_ = 0;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> shared_;  ///< clusters in several parts, and points in one
};

}  // namespace epsflow::parts
