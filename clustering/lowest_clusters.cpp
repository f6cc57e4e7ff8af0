#include <epsflow/clustering/lowest_clusters.hpp>

#include <algorithm>
#include <bit>

#include <epsflow/clustering/searched_loops.hpp>
#include <epsflow/core/buffer.hpp>
#include <epsflow/core/parallel.hpp>
#include <epsflow/index/cell_axes.hpp>
#include <epsflow/index/radix_sort.hpp>

namespace epsflow::clustering {
namespace {

constexpr std::uint32_t kSearchedGrain = 1024;

}  // namespace

void find_lowest_clusters(const index::SearchIndex& index, const index::RowSearch& rows,
                          const std::uint32_t* cluster_of, std::uint32_t* clusters, const CancelToken& cancel) {
  const std::size_t blocks = (std::size_t{index.size()} + kSearchedGrain - 1) / kSearchedGrain;
  parallel_for(blocks, [&](std::size_t b) {
    if (cancel.cancelled()) return;
    const auto first = static_cast<std::uint32_t>(b * kSearchedGrain);
    const Range block{first, first + std::min(kSearchedGrain, index.size() - first)};
    find_clusters(index, rows.input(), block, cluster_of, clusters + first);
  });
  cancel.check();
}

bool finds_clusters_at(const index::Grid& grid) noexcept {
  return grid.dims() <= index::kMostIndexedDims && grid.supports_any_point();
}

void find_lowest_clusters_at(const index::Grid& grid, const index::RowSearch& rows, const std::uint32_t* cluster_of,
                             std::span<const double> points, std::uint32_t* clusters, const CancelToken& cancel) {
  const std::size_t n = points.size() / grid.dims();
  Buffer<KeyedPoint> keyed(n), spare(n);
  parallel_ranges(n, kSearchedGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      keyed[i] = {grid.key_at(points.data() + i * grid.dims()), static_cast<std::uint32_t>(i)};
    }
  });
  cancel.check();
  const auto bits = static_cast<unsigned>(std::bit_width(grid.keys().count - 1));
  const std::span<const KeyedPoint> sorted = index::radix_sort(
      keyed.span(), spare.span(), bits, [](const KeyedPoint& point) { return point.key; }, cancel);
  parallel_ranges(n, kSearchedGrain, [&](std::size_t begin, std::size_t end) {
    if (cancel.cancelled()) return;
    find_clusters_at(grid, rows.input(), sorted.subspan(begin, end - begin), points.data(), cluster_of, clusters);
  });
  cancel.check();
}

}  // namespace epsflow::clustering
