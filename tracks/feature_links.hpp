// Links between the features of consecutive slices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <epsflow/catalog/cluster_order.hpp>
#include <epsflow/core/cancel.hpp>
#include <epsflow/core/parallel.hpp>
#include <epsflow/tracks/tracks.hpp>

namespace epsflow::tracks {

/// [slices − 1] the links of each slice with the next, sorted by from and then by to.
using LinksOfSlices = std::vector<std::vector<FeatureLink>>;

/// Returns the rows of a feature, ascending. A row is the index of a point among all slices. order: of the labels of
/// all slices; its entries are the features.
[[nodiscard]] inline std::span<const std::uint32_t> rows_of(const ClusterOrder& order, std::size_t feature) noexcept {
  return {order.points.data() + order.offsets[feature], order.offsets[feature + 1] - order.offsets[feature]};
}

/// Returns links between features whose core points are near each other. See FeatureLink for the counts of a link;
/// same_cell is not set. eps: the largest distance of linked core points, in the unit of the metric's eps.
///
/// For each pair of slices, the core points of both are sorted into one grid. Each core point is then tested against
/// each feature of the other slice that has core points around it, until one of these is near. Costs O(core points), a
/// sort, and the tests: few if clusters continue, all pairs of a neighbourhood if clusters come close and do not touch.
/// Throws UsageError if eps or the metric is invalid, InputError if the metric does not accept a point, Cancelled.
[[nodiscard]] LinksOfSlices find_core_links(const SlicedLabels& slices, double eps, const ClusterOrder& order,
                                            const CancelToken& cancel);

/// Returns links between features that share ids; same_cell is not set. feature_of: as in Tracks. O(n) if each slice is
/// sorted by id, else O(n log n). Throws InputError for an id that is twice among the clusters of a slice, Cancelled.
[[nodiscard]] LinksOfSlices find_id_links(const SlicedLabels& slices, std::span<const std::uint32_t> feature_of,
                                          const CancelToken& cancel);

/// Sorts links by from and then by to, and merges links of the same two features by adding up their counts.
void join_links(std::vector<FeatureLink>& links);

/// Returns the links of all pairs of slices. prepare(slice) returns the data by which a slice is compared.
/// compare(before, after) returns the links of two slices, sorted by from and then by to. Several pairs run in
/// parallel. A slice is prepared twice if another thread takes over, at most once in four slices.
template <class Prepare, class Compare>
[[nodiscard]] LinksOfSlices links_of_pairs(std::size_t slices, const CancelToken& cancel, Prepare prepare,
                                           Compare compare) {
  constexpr std::size_t kGrain = 8;
  LinksOfSlices links(slices > 0 ? slices - 1 : 0);
  parallel_ranges(links.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    auto before = prepare(begin);
    for (std::size_t s = begin; s < end; ++s) {
      cancel.check();
      auto after = prepare(s + 1);
      links[s] = compare(before, after);
      before = std::move(after);
    }
  });
  return links;
}

}  // namespace epsflow::tracks
