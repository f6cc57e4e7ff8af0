// What parts in one memory find of a level, counted and put together.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <epsflow/core/labels.hpp>
#include <epsflow/core/phases.hpp>
#include <epsflow/parts/local_merge.hpp>

namespace epsflow::parts {

/// Of the own points of a part.
struct OwnCounts {
  /// found: of own points and ghosts within. labels, sets: of these ghosts, and the clusters that they are core points of, if they are.
  OwnCounts(const LevelResult& found, std::span<const std::int32_t> labels, std::span<const std::uint32_t> sets);
  OwnCounts() = default;

  LabelSummary counts;               ///< core, border and noise
  std::vector<std::uint32_t> sizes;  ///< [clusters] by which the part is labelled
};

/// Those of all parts.
class LevelTotals {
 public:
  /// own: labelled by NumberedSets::local. sizes: [clusters] of all, to be added to, or none. In parallel.
  void add(const OwnCounts& own, const NumberedSets& sets, std::span<std::uint32_t> sizes);
  /// Once all are added.
  [[nodiscard]] LabelSummary summary(std::uint32_t clusters);

 private:
  LabelSummary summary_;
  std::uint64_t largest_ = 0;
  std::vector<std::pair<std::uint32_t, std::uint32_t>>
      shared_;  ///< clusters that several parts have points of, and how many
};

}  // namespace epsflow::parts
