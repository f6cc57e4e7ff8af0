// Makes the Clusters (core/labels.hpp) of one eps from the labels and masks of its levels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <epsflow/core/labels.hpp>

namespace epsflow::parts {

/// Call take() for each level, by descending minpts.
class RowClusters {
 public:
  /// least: the smallest minpts.
  RowClusters(std::size_t rows, std::uint32_t least);

  /// Returns the clusters of a level; at the smallest minpts also core_since of all rows. result: has labels and mask
  /// of all rows. first_core, size: for each cluster the row of its first core point, and its number of points.
  /// O(rows), in parallel. Throws ResourceError if the levels so far have more clusters together than core_since can
  /// number.
  [[nodiscard]] Clusters take(const VariantResult& result, std::vector<std::uint32_t> first_core,
                              std::vector<std::uint32_t> size);

 private:
  std::uint32_t least_;
  Labels core_since_;                 ///< [rows]
  std::uint64_t all_before_ = 0;      ///< number of clusters of the levels before
  std::vector<std::uint32_t> first_;  ///< first core points of the clusters of the level before
};

}  // namespace epsflow::parts
