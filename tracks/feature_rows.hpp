// The features of a data set in slices, which are the clusters of each slice, and the rows of each feature.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <epsflow/core/cancel.hpp>
#include <epsflow/tracks/tracks.hpp>

namespace epsflow::tracks {

/// The rows of each feature. Features are sorted by slice.
struct FeatureRows {
  std::vector<std::uint32_t> first_feature;  ///< [slices + 1] the first feature of each slice
  std::vector<std::uint32_t> starts;         ///< [features + 1] the first entry of each feature in `rows`
  std::vector<std::uint32_t> rows;           ///< ascending within each feature

  /// Returns the rows of a feature. A row is the index of a point among all slices.
  [[nodiscard]] std::span<const std::uint32_t> of(std::uint32_t feature) const noexcept {
    return {rows.data() + starts[feature], starts[feature + 1] - starts[feature]};
  }
};

/// Throws UsageError and InputError as find_tracks() does, for invalid starts, sizes, labels and core. O(n).
void check_slices(const SlicedLabels& slices);

/// Finds the features. Returns the rows of each. Sets in `found`, which must be empty: slices, feature_of, and features
/// except for their cells and tracks. check_slices() must have accepted the slices. O(n) if the labels of a slice are
/// not far larger than its number of points, else a sort of them; in parallel. Throws Cancelled.
[[nodiscard]] FeatureRows find_features(const SlicedLabels& slices, Tracks& found, const CancelToken& cancel);

}  // namespace epsflow::tracks
