#include <epsflow/clustering/cell_source.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/nested_check.hpp"
#include "support/oracle.hpp"
#include "support/random_points.hpp"

namespace epsflow::clustering {
namespace {

using test::DataSet;
using test::Minpts;
using test::Random;

DataSet of(std::size_t dims, std::vector<double> values) {
  return {.kind = "made by hand", .dims = dims, .doubles = std::move(values)};
}

/// Compares with the oracle; minpts must descend. Returns false if the cells for this eps are not dense boxes.
bool agrees(const DataSet& data, double eps, const Minpts& minpts) {
  const CancelToken never;
  const index::Grid grid(data.view(), eps, Cells::dense_box, never);
  if (!grid.dense_boxes()) return false;
  INFO("cells " << grid.cells());
  CellSource source(grid, minpts, never, {grid.size()});
  test::check_nested(data, eps, source, minpts);
  return true;
}

/// Returns the labels of one minpts after the check above. The cells must be dense boxes.
std::vector<std::int32_t> labels_of(const DataSet& data, double eps, std::uint32_t minpts) {
  REQUIRE(agrees(data, eps, {minpts}));
  return test::oracle_labels(data.oracle(eps), minpts).labels;
}

/// Returns minpts from 1 up to a value at which all points are core and one at which none is.
Minpts all_minpts(std::size_t n) {
  const auto m = static_cast<std::uint32_t>(n);
  Minpts all{m + 1};
  for (const std::uint32_t next : {m, 9U, 4U, 2U, 1U}) {
    if (next < all.back() && next > 0) all.push_back(next);
  }
  return all;
}

TEST_CASE("cell source: nested gives the oracle's labels on random data") {
  std::size_t dense_boxes = 0;
  for (std::uint64_t seed = 1; seed <= test::sets_of(700); ++seed) {
    INFO("seed " << seed);
    Random random(seed * 911);
    const DataSet data =
        test::make_data(test::data_kinds()[seed % test::data_kinds().size()], random.below(180), 1 + random.below(3),
                        random.chance(0.4) ? Precision::float32 : Precision::float64, seed);
    const Minpts minpts = test::descending_minpts(random, 40);
    for (int i = 0; i < 3; ++i) dense_boxes += agrees(data, test::make_eps(data, random), minpts) ? 1U : 0U;
  }
  CHECK(dense_boxes > test::sets_of(1200));
}

TEST_CASE("cell source: minpts 1, 2, all points and one more than there are") {
  for (const std::string kind : {"uniform", "clustered", "quantised", "duplicates", "collinear", "offset 1e6"}) {
    for (const std::size_t dims : {1U, 2U, 3U}) {
      for (const std::size_t n : {1U, 2U, 5U, 150U}) {
        const DataSet data = test::make_data(kind, n, dims, Precision::float64, n + dims);
        for (const double factor : {0.3, 1.0, 40.0}) CHECK(agrees(data, data.scale * factor, all_minpts(n)));
      }
    }
  }
}

TEST_CASE("cell source: no point") { CHECK(agrees(of(2, {}), 1, {3, 1})); }

TEST_CASE("cell source: all points equal are one cell, which is core as a whole or not at all") {
  for (const std::size_t dims : {1U, 2U, 3U}) {
    const DataSet data = test::make_data("all equal", 90, dims, Precision::float64, 4);
    for (const double eps : {1e-150, 1e-9, 1.0, 1e200}) CHECK(agrees(data, eps, {91, 90, 89, 1}));
  }
}

TEST_CASE("cell source: thousands of points in many blocks, and cells larger than a block") {
  const DataSet wide = test::make_data("uniform", 9000, 2, Precision::float32, 12);
  CHECK(agrees(wide, 0.4, {9, 5, 2}));
  DataSet heap = test::make_data("clustered", 1200, 3, Precision::float64, 6);
  // One cell has more points than a block has rows. It lies in the middle of the others.
  const std::vector<double> centre{0.25, -0.5, 0.125};
  for (int i = 0; i < 4400; ++i) heap.doubles.insert(heap.doubles.end(), centre.begin(), centre.end());
  CHECK(agrees(heap, 0.2, {4401, 30, 6}));
}

TEST_CASE("cell source: noise of a point or two per cell around clusters, on a wide axis and a narrow one") {
  // Some cells share the candidates of a slab, some share rows, and some have rows of their own.
  for (const std::size_t dims : {1U, 2U, 3U}) {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      Random random(seed * 31 + dims);
      DataSet data;
      data.dims = dims;
      const auto add = [&](double lo, double hi) {
        for (std::size_t k = 0; k < dims; ++k) {
          const double narrow = k == seed % dims ? 0.1 : 1;
          data.doubles.push_back(lo + (hi - lo) * narrow * static_cast<double>(random.below(1 << 20)) * 0x1p-20);
        }
      };
      for (int i = 0; i < 900; ++i) add(0, 100);
      for (int i = 0; i < 500; ++i) add(50, 54);
      for (int i = 0; i < 300; ++i) add(51, 51.5);
      for (const double eps : {0.2, 0.6, 2.0}) CHECK(agrees(data, eps, {20, 5, 2}));
    }
  }
}

/// Returns two sets of `size` points, each within one cell. The nearest pair across comes last in both sets, so only a
/// search of all pairs finds it; all other pairs are farther apart.
DataSet facing(std::size_t dims, std::size_t size, const std::vector<double>& a, const std::vector<double>& b) {
  DataSet data;
  data.dims = dims;
  for (const bool second : {false, true}) {
    const std::vector<double>& at = second ? b : a;
    for (std::size_t i = size; i-- > 0;) {
      for (std::size_t k = 0; k < dims; ++k) {
        const double away = static_cast<double>(i) * 0x1p-14;
        data.doubles.push_back(second ? at[k] + away : at[k] - away);
      }
    }
  }
  return data;
}

TEST_CASE("cell source: two dense cells at exactly eps are one cluster, one step beyond they are two") {
  // In 3-4-5 and 2-3-6-7 the sums of squares are exact. Ten points are compared pair by pair, 300 by bisection.
  struct Case {
    std::size_t dims;
    double eps;
    std::vector<double> a;
    std::vector<double> b;
  };
  const std::vector<Case> cases{
      {1, 4, {0}, {4}}, {2, 5, {0, 0}, {3, 4}}, {2, 5, {0, 0}, {0, 5}}, {3, 7, {0, 0, 0}, {2, 3, 6}}};
  for (const Case& c : cases) {
    for (const std::uint32_t size : {10U, 300U}) {
      INFO("d " << c.dims << ", size " << size);
      DataSet data = facing(c.dims, size, c.a, c.b);
      CHECK(labels_of(data, c.eps, size).back() == 0);
      CHECK(labels_of(data, std::nextafter(c.eps, 0.0), size).back() == 1);
      CHECK(agrees(data, c.eps, {size + 1, size, size - 1, 2}));
      // The nearest point of the second set moves one step. The distance may still round to eps, as in the oracle.
      data.doubles.back() = std::nextafter(data.doubles.back(), 1e9);
      CHECK(agrees(data, c.eps, {size, size - 1, 2}));
    }
  }
}

TEST_CASE("cell source: dense cells that are neighbours across an empty one") {
  // For eps 1 in one dimension, slots are 1 - 2^-14 wide: a point just before the end of slot 0 reaches into slot 2.
  const double last = 1 - 0x1p-14 - 0x1p-16;
  for (const double step : {1.0, std::nextafter(1.0, 2.0)}) {
    for (const std::size_t size : {5U, 300U}) {
      std::vector<double> values(size, 0.0);
      values.push_back(last);
      values.push_back(last + step);
      values.insert(values.end(), size, last + 1.5);
      const DataSet data = of(1, values);
      const index::Grid grid(data.view(), 1, Cells::dense_box, CancelToken());
      REQUIRE(grid.cells() == 2);
      REQUIRE(grid.cell_keys()[1] == grid.cell_keys()[0] + 2);
      const auto minpts = static_cast<std::uint32_t>(size + 1);
      CHECK(labels_of(data, 1, minpts).back() == (step == 1.0 ? 0 : 1));
    }
  }
}

TEST_CASE("cell source: chains of points at exactly eps") {
  // Multiples of 0.1 are not representable, so links are at, just under and just over eps. Multiples of 0.25 are exact.
  for (const double step : {0.1, 0.25, 1.0 / 3}) {
    for (const std::size_t dims : {1U, 2U, 3U}) {
      for (std::size_t axis = 0; axis < dims; ++axis) {
        std::vector<double> values(200 * dims);
        for (std::size_t i = 0; i < 200; ++i) values[i * dims + axis] = static_cast<double>(i) * step;
        const DataSet chain = of(dims, values);
        CHECK(agrees(chain, step, {4, 3, 2, 1}));
        CHECK(agrees(chain, std::nextafter(step, 0.0), {3, 2}));
        CHECK(agrees(chain, 2 * step, {6, 5, 3, 2}));
      }
    }
  }
  // Links along the diagonal have the length 5 exactly.
  std::vector<double> stairs;
  for (int i = 0; i < 150; ++i) stairs.insert(stairs.end(), {3.0 * i, 4.0 * i});
  CHECK(labels_of(of(2, stairs), 5, 2).back() == 0);
  CHECK(labels_of(of(2, stairs), std::nextafter(5.0, 0.0), 2).back() == kNoise);
}

TEST_CASE("cell source: small steps far from the origin") {
  for (const std::size_t dims : {1U, 2U, 3U}) {
    Random random(dims);
    std::vector<double> values;
    for (std::size_t i = 0; i < 200 * dims; ++i) values.push_back(1e6 + 1e-4 * static_cast<double>(random.below(30)));
    const DataSet data = of(dims, values);
    for (const double eps : {1e-5, 1e-4, 2e-4, 3e-4, 1.0}) CHECK(agrees(data, eps, {40, 8, 3, 2}));
  }
}

TEST_CASE("cell source: a dense cell makes its sparser neighbour core where it is within eps, and only there") {
  for (const std::uint32_t minpts : {2U, 5U, 40U}) {
    // The cell beside the dense one has one point less than minpts.
    const auto beside = [&](double at) {
      std::vector<double> values(minpts, 0.0);
      values.insert(values.end(), minpts - 1, at);
      return of(1, values);
    };
    CHECK(labels_of(beside(1.0), 1, minpts).back() == 0);
    CHECK(labels_of(beside(std::nextafter(1.0, 2.0)), 1, minpts).back() == kNoise);
    CHECK(agrees(beside(1.0), 1, {2 * minpts, 2 * minpts - 1, minpts, 1}));
    // Only one of its points is within reach. That point is core, and the others are its border points.
    DataSet spread = beside(1.25);
    spread.doubles.back() = 1;
    const auto labels = labels_of(spread, 1, minpts + 1);
    CHECK(std::count(labels.begin(), labels.end(), 0) == 2 * minpts - 1);
    CHECK(agrees(spread, 1, {2 * minpts, minpts + 1, minpts, minpts - 1}));
  }
}

TEST_CASE("cell source: a border point takes the lowest cluster around it") {
  // Each of three dense heaps has one point towards the middle. The point in the middle is within eps of two of them.
  const std::vector<std::vector<double>> near{{0, 0}, {1.8, 0}, {0.9, 1.7}};
  const std::vector<std::vector<double>> heaps{{-0.3, 0}, {2.1, 0}, {0.9, 2}};
  const std::vector<std::vector<std::size_t>> orders{{0, 1, 2}, {2, 1, 0}, {1, 2, 0}};
  const std::vector<std::int32_t> expected{0, 1, 0};
  for (std::size_t o = 0; o < orders.size(); ++o) {
    std::vector<double> values{0.9, 0.1};
    for (const std::size_t h : orders[o]) {
      values.insert(values.end(), near[h].begin(), near[h].end());
      for (int i = 0; i < 9; ++i) values.insert(values.end(), heaps[h].begin(), heaps[h].end());
    }
    const DataSet data = of(2, values);
    const auto labels = labels_of(data, 0.95, 8);
    CHECK(labels.front() == expected[o]);
    CHECK(labels.back() == 2);
    CHECK(agrees(data, 0.95, {12, 11, 10, 4, 3, 2}));
  }
}

TEST_CASE("cell source: eps so small that every point has a cell, and so large that all share one") {
  for (const std::size_t dims : {1U, 2U, 3U}) {
    for (const Precision precision : {Precision::float32, Precision::float64}) {
      const DataSet data = test::make_data("uniform", 120, dims, precision, 8);
      const index::Grid fine(data.view(), 1e-4, Cells::dense_box, CancelToken());
      CHECK(fine.cells() == data.size());
      CHECK(agrees(data, 1e-4, {2, 1}));
      for (const double eps : {1e3, 1e155, 1e200, 1e300}) {
        const index::Grid coarse(data.view(), eps, Cells::dense_box, CancelToken());
        CHECK(coarse.cells() == 1);
        CHECK(agrees(data, eps, {121, 120, 119, 2, 1}));
      }
    }
  }
}

TEST_CASE("cell source: a far outlier, whose axis is cut at gaps") {
  for (const std::size_t dims : {1U, 2U, 3U}) {
    for (const double far : {1e15, -1e300, 1.7e308}) {
      DataSet data = test::make_data("clustered", 200, dims, Precision::float64, dims);
      data.doubles[77 * dims + dims - 1] = far;
      for (const double eps : {0.1, 0.4, 2.0}) CHECK(agrees(data, eps, {30, 5, 2, 1}));
    }
  }
}

TEST_CASE("cell source: quantised grids, where pairs lie at, just over and just under eps") {
  for (const std::size_t dims : {1U, 2U, 3U}) {
    for (const Precision precision : {Precision::float32, Precision::float64}) {
      for (std::uint64_t seed = 1; seed <= 8; ++seed) {
        const DataSet data = test::make_data("quantised", 220, dims, precision, seed);
        for (const double factor : {1.0, std::sqrt(2.0), std::sqrt(3.0), 2.0, 3.0}) {
          const double eps = data.scale * factor;
          CHECK(agrees(data, eps, {60, 20, 8, 7, 4, 2}));
          CHECK(agrees(data, std::nextafter(eps, 1e9), {20, 3}));
        }
      }
    }
  }
}

/// Many sizes of minpts. For the largest, bounds count some of the points.
const Minpts kFarApart{900, 600, 400, 399, 256, 130, 60, 20, 5, 2, 1};

TEST_CASE("cell source: full cells are counted by bounds") {
  for (const std::size_t dims : {1U, 2U, 3U}) {
    for (const Precision precision : {Precision::float32, Precision::float64}) {
      for (const std::string kind : {"uniform", "clustered", "quantised", "duplicates", "collinear", "offset 1e6"}) {
        const DataSet data = test::make_data(kind, 3000, dims, precision, dims + 11);
        for (const double factor : {0.3, 1.0, 4.0}) CHECK(agrees(data, data.scale * factor, kFarApart));
      }
    }
  }
}

TEST_CASE("cell source: lattices whose pairs and corners of bounds lie at exactly eps") {
  // Lattice points have others at exactly eps: 5 = |(3, 4)|, 7 = |(2, 3, 6)|. Far from the origin steps are rounded.
  struct Case {
    std::size_t dims;
    std::uint64_t side;
    double eps;
  };
  for (const Case& c : {Case{1, 3000, 700}, Case{2, 58, 25}, Case{2, 58, 20}, Case{3, 15, 7}, Case{3, 15, 6}}) {
    for (const double from : {0.0, 1e6}) {
      const double step = from == 0 ? 1 : 1e-4;
      std::vector<double> values;
      std::uint64_t n = 1;
      for (std::size_t k = 0; k < c.dims; ++k) n *= c.side;
      for (std::uint64_t i = 0; i < n; ++i) {
        // The order is independent of the positions: 2039 is a prime that does not divide n.
        std::uint64_t at = i * 2039 % n;
        for (std::size_t k = 0; k < c.dims; ++k, at /= c.side) {
          values.push_back(from + step * static_cast<double>(at % c.side));
        }
      }
      const DataSet lattice = of(c.dims, values);
      const double eps = c.eps * step;
      CHECK(agrees(lattice, eps, kFarApart));
      CHECK(agrees(lattice, std::nextafter(eps, 0.0), {1300, 400, 399, 398, 300, 50}));
      CHECK(agrees(lattice, std::nextafter(eps, 1e9), {1401, 1400, 1399, 701, 700, 2}));
    }
  }
}

TEST_CASE("cell source: thousands of equal points at exactly eps from a cloud") {
  // The bounds have no extent: the points are within eps as a whole or, one step farther, out of reach as a whole.
  for (const double at : {5.0, std::nextafter(5.0, 6.0)}) {
    std::vector<double> values;
    Random random(3);
    for (int i = 0; i < 1500; ++i) values.insert(values.end(), {0, 0});
    for (int i = 0; i < 900; ++i) values.insert(values.end(), {at, 0});
    for (int i = 0; i < 900; ++i) {
      values.insert(values.end(), {-3 - static_cast<double>(random.below(1 << 20)) * 0x1p-19, 4});
    }
    CHECK(agrees(of(2, values), 5, {3300, 2401, 2400, 2399, 1500, 901, 900, 899, 400}));
  }
}

TEST_CASE("cell source: a cancelled token stops it") {
  const DataSet data = test::make_data("clustered", 300, 2, Precision::float64, 1);
  const index::Grid grid(data.view(), 0.3, Cells::dense_box, CancelToken());
  CancelToken token;
  token.cancel();
  CHECK_THROWS_AS(CellSource(grid, Minpts{4, 2}, token, {grid.size()}), Cancelled);
}

}  // namespace
}  // namespace epsflow::clustering
