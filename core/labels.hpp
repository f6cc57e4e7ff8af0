// What DBSCAN gives for one variant: a label per point and the counts that sum it up.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <epsflow/core/sweep.hpp>

namespace epsflow {

/// The label of noise. Clusters are 0, 1, 2, … by their smallest core point id.
inline constexpr std::int32_t kNoise = -1;

/// Counts of one labelling.
struct LabelSummary {
  std::uint64_t clusters = 0;
  std::uint64_t noise = 0;    ///< points in no cluster
  std::uint64_t core = 0;     ///< points with at least minpts points within eps
  std::uint64_t border = 0;   ///< points in a cluster that are not core
  std::uint64_t largest = 0;  ///< points of the largest cluster, 0 without clusters

  friend bool operator==(const LabelSummary&, const LabelSummary&) = default;
};

/// One finished variant.
struct VariantResult {
  Variant variant;
  std::vector<std::int32_t> labels;  ///< [n] in input order
  LabelSummary summary;
  /// Seconds of wall time: an even share of the table's, plus the clustering of this variant.
  double seconds = 0;
  std::vector<std::uint8_t> core = {};  ///< [n] 1 for core points, else 0; empty unless Options::core_mask
};

}  // namespace epsflow
