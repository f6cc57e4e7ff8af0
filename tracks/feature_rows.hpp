// The clusters of all slices, and which rows they have.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <epsflow/core/cancel.hpp>
#include <epsflow/tracks/tracks.hpp>

namespace epsflow::tracks {

/// Rows by feature. Those of a slice follow each other, as its features do.
struct FeatureRows {
  std::vector<std::uint32_t> first_feature;  ///< [slices + 1] of each slice
  std::vector<std::uint32_t> starts;         ///< [features + 1] the first place of each feature in rows
  std::vector<std::uint32_t> rows;           ///< ascending within each feature

  [[nodiscard]] std::span<const std::uint32_t> of(std::uint32_t feature) const noexcept {
    return {rows.data() + starts[feature], starts[feature + 1] - starts[feature]};
  }
};

/// Throws UsageError and InputError as find_tracks() does, for starts, labels and core.
void check_slices(const SlicedLabels& slices);

/// Fills slices, features but for their cells and tracks, and feature_of. The slices must be ones that check_slices() accepts. O(n), in
/// parallel.
[[nodiscard]] FeatureRows find_features(const SlicedLabels& slices, Tracks& found, const CancelToken& cancel);

}  // namespace epsflow::tracks
