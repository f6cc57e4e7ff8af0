// The clusters of one eps as objects (RunOptions::clusters), from the labels and masks of its levels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <epsflow/core/labels.hpp>

namespace epsflow::parts {

/// Levels come by descending minpts.
class RowClusters {
 public:
  /// least: the smallest minpts.
  RowClusters(std::size_t rows, std::uint32_t least);

  /// The clusters of a level. result: with labels and mask of all rows. first_core, size: of its clusters. O(rows), in parallel. Throws
  /// ResourceError for more clusters than births can tell.
  [[nodiscard]] Clusters take(const VariantResult& result, std::vector<std::uint32_t> first_core,
                              std::vector<std::uint32_t> size);

 private:
  std::uint32_t least_;
  Labels births_;                     ///< [rows]
  std::uint64_t all_before_ = 0;      ///< clusters of the levels before
  std::vector<std::uint32_t> first_;  ///< first core points of the level before
};

}  // namespace epsflow::parts
