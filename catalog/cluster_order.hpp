// Points in the order of their clusters.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <epsflow/core/buffer.hpp>
#include <epsflow/core/cancel.hpp>
#include <epsflow/core/slices.hpp>

namespace epsflow {

/// The points of entry c are points[offsets[c] … offsets[c + 1]), ascending. Entries are the clusters that have points, by their labels; of
/// slices those of the first come first, then those of the second. Noise is left out.
struct ClusterOrder {
  std::vector<std::int32_t> labels;       ///< [clusters]
  std::vector<std::uint64_t> offsets{0};  ///< [clusters + 1]
  Buffer<std::uint32_t> points;           ///< [points in clusters] ids
  std::vector<std::uint64_t> slices;      ///< [slices + 1]: the first entry of each; without slices those of one

  [[nodiscard]] std::size_t clusters() const noexcept { return offsets.size() - 1; }
};

/// labels: [n], each −1 or a cluster; those of a slice count from 0. slices: null where there are none. A stable radix sort: O(n) time, some
/// 20·n bytes. In parallel. Throws InputError for a label below −1, ResourceError, Cancelled.
[[nodiscard]] ClusterOrder order_by_cluster(std::span<const std::int32_t> labels, const Slices* slices = nullptr,
                                            const CancelToken& cancel = {});

}  // namespace epsflow
