#include <tbb/task_arena.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/core_check.hpp"
#include "support/random_points.hpp"

#include <epsflow/clustering/dbscan.hpp>
#include <epsflow/core/backend.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/cpu/cpu_backend.hpp>
#include <epsflow/index/distance.hpp>
#include <epsflow/index/pair_list.hpp>

namespace epsflow::cpu {
namespace {

using test::Random;

const CancelToken kNever;

Space slices_of(const std::vector<std::uint64_t>& sizes) {
  std::vector<std::uint64_t> offsets{0};
  for (const std::uint64_t size : sizes) offsets.push_back(offsets.back() + size);
  Space space;
  space.slices = std::make_shared<const Slices>(offsets, offsets.back());
  return space;
}

/// Returns slices on a lattice, with many pairs at exactly eps = 1, in turn with others. The last is far and wide.
template <class T>
std::vector<T> sparse_points(const Space& space, std::size_t dims) {
  Random random(dims + sizeof(T));
  std::vector<T> values;
  for (std::size_t s = 0; s < space.slices->count(); ++s) {
    const std::uint32_t size = space.slices->last(s) - space.slices->first(s);
    const bool last = s + 1 == space.slices->count();
    const double side = std::pow(static_cast<double>(size), 1.0 / static_cast<double>(dims)) * (last ? 1000 : 1.3);
    for (std::size_t i = 0; i < size * dims; ++i) {
      const double x = random.unit() * side + (last ? 1e6 : -3);
      values.push_back(static_cast<T>(s % 2 == 0 ? std::floor(x) : x));
    }
  }
  return values;
}

std::vector<VariantResult> cluster(const Index& index, const std::vector<std::uint32_t>& minpts) {
  const DirectOptions options{.minpts = minpts, .core_mask = true};
  std::vector<VariantResult> made;
  clustering::cluster_levels(*index.count(options), *index.label_store(options), 1, minpts,
                             [&](VariantResult&& result) { made.push_back(std::move(result)); });
  return made;
}

/// Compares the clusterings of an index of pairs and of one of cells, made on as many threads as the arena has.
void check_as_cells(const LoadedPoints& points, double eps, tbb::task_arena& arena) {
  arena.execute([&] {
    const auto pairs = points.build_index({.eps = eps, .cells = Cells::dense_box, .pairs = true}, kNever);
    const auto cells = points.build_index({.eps = eps, .cells = Cells::dense_box}, kNever);
    REQUIRE(pairs->figures().pairs_stay);
    REQUIRE_FALSE(cells->figures().pairs_stay);
    const std::vector<std::uint32_t> minpts{1000, 9, 5, 4, 3, 2, 1};
    test::check_same(cluster(*pairs, minpts), cluster(*cells, minpts));
  });
}

TEMPLATE_TEST_CASE("pair index: labels, masks and counts of slices are those of cells", "", float, double) {
  const Space space = slices_of({0, 1, 2, 700, 0, 5000, 4001, 1, 9000, 0, 8192, 8500, 0, 300});
  const auto backend = make_cpu_backend(1);
  tbb::task_arena arena(1);  // with one thread, few slices are enough on any machine
  for (const std::size_t dims : {1, 2, 3}) {
    const std::vector<TestType> values = sparse_points<TestType>(space, dims);
    const auto points = backend->load(PointsView(std::span<const TestType>(values), dims), space);
    for (const double eps : {0.3, 1.0, 1.2}) {
      CAPTURE(dims, eps);
      check_as_cells(*points, eps, arena);
    }
  }
}

TEMPLATE_TEST_CASE("pair index: labels, masks and counts of one data set are those of cells", "", float, double) {
  const auto backend = make_cpu_backend(3);
  tbb::task_arena arena(3);
  for (const std::size_t dims : {1, 2, 3}) {
    for (const std::uint64_t n : {1, 2, 500, dims == 3 ? 20'000 : 65'536}) {
      std::vector<TestType> values = sparse_points<TestType>(slices_of({n, 0}), dims);
      const auto points = backend->load(PointsView(std::span<const TestType>(values), dims), Space{});
      for (const double eps : {0.3, 1.0}) {
        CAPTURE(dims, n, eps);
        check_as_cells(*points, eps, arena);
      }
    }
  }
}

TEST_CASE("pair index: each pair of a slice once, and none across") {
  const Space space = slices_of({3, 400, 0, 400});
  const std::vector<double> values = sparse_points<double>(space, 2);
  const PointsView points(std::span<const double>(values), 2);
  const auto list = index::PairList::find(points, space, 1, kNever);
  REQUIRE(list);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> found, wanted;
  for (const auto& block : list->blocks()) {
    std::size_t at = 0;
    for (std::uint32_t s = block.first; s < block.last; ++s) {
      const std::uint32_t first = list->starts()[s];
      for (; at < block.ends[s - block.first]; ++at) {
        const std::uint32_t a = first + block.pairs[at].a, b = first + block.pairs[at].b;
        found.emplace_back(std::min(a, b), std::max(a, b));
      }
    }
  }
  for (std::size_t s = 0; s < space.slices->count(); ++s) {
    for (std::uint32_t a = space.slices->first(s); a < space.slices->last(s); ++a) {
      for (std::uint32_t b = a + 1; b < space.slices->last(s); ++b) {
        if (index::is_neighbor(&values[2 * a], &values[2 * b], 2, 1.0)) wanted.emplace_back(a, b);
      }
    }
  }
  std::sort(found.begin(), found.end());
  CHECK(found == wanted);
  CHECK(wanted.size() > 200);
}

TEST_CASE("pair index: cells where a list is not the right index") {
  const Space space = slices_of({2000, 2000});
  const std::vector<double> values = sparse_points<double>(space, 2);
  const PointsView points(std::span<const double>(values), 2);
  const auto finds = [&](const PointsView& some, const Space& of, double eps) {
    return index::PairList::find(some, of, eps, kNever).has_value();
  };
  CHECK(finds(points, space, 1));
  CHECK(finds(points.rows(0, 2000), {}, 1));
  CHECK_FALSE(finds(points, space, 20));  // neighbourhoods have many points
  CHECK_FALSE(finds(points, {}, 20));
  CHECK_FALSE(finds(points, space, 1e-200));  // squares underflow
  CHECK_FALSE(finds(PointsView(std::span<const double>(values), 4), slices_of({1000, 1000}), 1));
  Space other = space;
  other.norm = Norm::manhattan;
  CHECK_FALSE(finds(points, other, 1));
  other = space;
  other.axes = {{0, 100}, {0, 100}};
  CHECK_FALSE(finds(points, other, 1));
  const std::vector<double> large(2 * 65537, 0);
  for (const Space& of : {slices_of({65537}), Space{}}) {
    CHECK_FALSE(finds(PointsView(std::span<const double>(large), 2), of, 1));  // indices have only 16 bits
  }
  const std::vector<double> ends{-1.7e308, 0, 1.7e308, 0};
  CHECK_FALSE(finds(PointsView(std::span<const double>(ends), 2), slices_of({2}), 1));  // differences overflow
  CancelToken cancelled;
  cancelled.cancel();
  CHECK_THROWS_AS(index::PairList::find(points, space, 1, cancelled), Cancelled);
  CHECK_THROWS_AS(index::PairList::find(points.rows(0, 2000), {}, 1, cancelled), Cancelled);
}

}  // namespace
}  // namespace epsflow::cpu
