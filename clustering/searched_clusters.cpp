#include <epsflow/clustering/searched_loops.hpp>

#include <epsflow/index/instruction_sets.hpp>
// Must come before any header of Highway.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "epsflow/clustering/searched_clusters.cpp"  // NOLINT: compiled once per instruction set
#include <hwy/foreach_target.h>
// foreach_target.h must come first
#include <hwy/highway.h>

#include <epsflow/clustering/searched_loops-inl.hpp>
#include <epsflow/index/candidate_ranges.hpp>
#include <epsflow/index/cell_axes.hpp>

HWY_BEFORE_NAMESPACE();
namespace epsflow::clustering {
namespace HWY_NAMESPACE {

template <class Test>
void find(const SearchIndex& index, const SearchInput& in, Range rows, const std::uint32_t* cluster_of,
          std::uint32_t* clusters) {
  for_each_row(index, rows, [&](std::uint32_t row, std::span<const Range> candidates) HWY_ATTR {
    std::uint32_t& cluster = clusters[row - rows.begin];
    cluster = cluster_of[row];
    if (cluster != kNoCluster) return;
    const Test test(in, row);
    for_each_other(
        test, candidates, index.size(), cluster_of, [&] { return cluster; },
        [&](std::uint32_t neighbor) { cluster = HWY_MIN(cluster, cluster_of[neighbor]); });
  });
}

template <class T, std::size_t D>
void find_at(const index::Grid& grid, const SearchInput& in, std::span<const KeyedPoint> points,
             const double* coordinates, const std::uint32_t* cluster_of, std::uint32_t* clusters) {
  index::BundleWalk walk;
  std::uint64_t key = ~std::uint64_t{0};
  for (const KeyedPoint& point : points) {
    std::uint32_t& cluster = clusters[point.id];
    cluster = kNoCluster;
    if (point.key == index::Grid::kNowhere) continue;
    if (point.key != key) grid.find_ranges_at(key = point.key, walk);
    for_each_other(
        RowTest<T, D>(in, coordinates + std::size_t{point.id} * D), walk.ranges, grid.size(), cluster_of,
        [&] { return cluster; }, [&](std::uint32_t p) { cluster = HWY_MIN(cluster, cluster_of[p]); });
  }
}

void find_any(const SearchIndex& index, const SearchInput& in, Range rows, const std::uint32_t* cluster_of,
              std::uint32_t* clusters) {
  with_test(in, [&]<class Test>() HWY_ATTR { find<Test>(index, in, rows, cluster_of, clusters); });
}

void find_at_any(const index::Grid& grid, const SearchInput& in, std::span<const KeyedPoint> points,
                 const double* coordinates, const std::uint32_t* cluster_of, std::uint32_t* clusters) {
  with_types(in, [&]<class T, std::size_t D>() HWY_ATTR {
    if constexpr (D > 0 && D <= index::kMostIndexedDims)
      find_at<T, D>(grid, in, points, coordinates, cluster_of, clusters);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace epsflow::clustering
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace epsflow::clustering {

HWY_EXPORT(find_any);
HWY_EXPORT(find_at_any);

void find_clusters(const index::SearchIndex& index, const index::SearchInput& in, Range rows,
                   const std::uint32_t* cluster_of, std::uint32_t* clusters) {
  HWY_DYNAMIC_DISPATCH(find_any)(index, in, rows, cluster_of, clusters);
}

void find_clusters_at(const index::Grid& grid, const index::SearchInput& in, std::span<const KeyedPoint> points,
                      const double* coordinates, const std::uint32_t* cluster_of, std::uint32_t* clusters) {
  HWY_DYNAMIC_DISPATCH(find_at_any)(grid, in, points, coordinates, cluster_of, clusters);
}

}  // namespace epsflow::clustering
#endif
