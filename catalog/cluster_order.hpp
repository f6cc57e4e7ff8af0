// The points sorted by cluster.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <epsflow/core/buffer.hpp>
#include <epsflow/core/cancel.hpp>
#include <epsflow/core/slices.hpp>

namespace epsflow {

/// The points of entry c are points[offsets[c] … offsets[c + 1]), ascending. The entries are the clusters that have
/// points, sorted by slice and then by label. Noise is excluded.
struct ClusterOrder {
  std::vector<std::int32_t> labels;       ///< [clusters] the label of each entry
  std::vector<std::uint64_t> offsets{0};  ///< [clusters + 1]
  Buffer<std::uint32_t> points;           ///< [points in clusters] ids
  std::vector<std::uint64_t> slices;      ///< [slices + 1] the first entry of each slice; one slice if there are none

  [[nodiscard]] std::size_t clusters() const noexcept { return offsets.size() - 1; }
};

/// Returns the points sorted by cluster. labels: [n], each −1 or a cluster; the labels of different slices are
/// unrelated. slices: null if the points are one data set. A stable radix sort in parallel: O(n) time, about 20·n
/// bytes; O(n·log n) if labels are far larger than n. Throws InputError for a label below −1, ResourceError, Cancelled.
[[nodiscard]] ClusterOrder order_by_cluster(std::span<const std::int32_t> labels, const Slices* slices = nullptr,
                                            const CancelToken& cancel = {});

}  // namespace epsflow
