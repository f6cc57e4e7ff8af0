#include <epsflow/index/cell_axes.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/random_points.hpp"

#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/core/sweep.hpp>
#include <epsflow/index/distance.hpp>

namespace epsflow::index {
namespace {

using test::Random;

CellAxis make_axis(const std::vector<double>& values, double eps) {
  return {PointsView(std::span<const double>(values), 1), 0, SlotWidth::of_reach(eps), CancelToken()};
}

/// Checks all pairs of values: neighbours have adjacent slots, and slots follow the values and are below their number.
void check_axis(const CellAxis& axis, const std::vector<double>& values, double eps) {
  std::vector<std::uint64_t> slots;
  for (const double x : values) slots.push_back(axis.slot(x));
  for (std::size_t i = 0; i < values.size(); ++i) {
    REQUIRE(slots[i] < axis.slots());
    for (std::size_t j = 0; j < values.size(); ++j) {
      const bool in_order = values[i] > values[j] || slots[i] <= slots[j];
      const bool apart = slots[i] + 1 < slots[j];
      if (in_order && !(apart && is_neighbor(&values[i], &values[j], 1, eps * eps))) continue;
      INFO("values " << format_number(values[i]) << " and " << format_number(values[j]) << ", slots " << slots[i]
                     << " and " << slots[j] << ", eps " << format_number(eps));
      REQUIRE(in_order);
      REQUIRE_FALSE(apart);
    }
  }
}

/// Returns values around multiples of eps: exactly there, one step to either side, and eps apart in rounded arithmetic.
std::vector<double> adversarial(double eps, double offset, Random& random) {
  std::vector<double> values;
  for (int i = 0; i < 25; ++i) {
    const double x = offset + eps * static_cast<double>(random.below(40));
    for (const double y : {x, x + eps, x - eps}) {
      values.insert(values.end(), {y, std::nextafter(y, -1e308), std::nextafter(y, 1e308)});
    }
  }
  return values;
}

/// Returns values at and just below every edge of slots that are a little narrower or wider than eps, and eps beyond
/// each. If slots were narrower than eps, such a pair would skip a whole slot.
std::vector<double> around_edges(double eps, double width, double lowest) {
  std::vector<double> values{lowest};
  for (int i = 1; i <= 40; ++i) {
    const double edge = lowest + i * (eps * width);
    for (const double x : {edge, std::nextafter(edge, lowest), edge - eps * 1e-7}) {
      values.insert(values.end(), {x, x + eps});
    }
  }
  return values;
}

TEST_CASE("cell axis: pairs that begin just before the edge of a slot") {
  for (const double eps : {1.0, 0.3, 1e-5, 777.0}) {
    for (const double slack : {0.0, 0x1p-16, 0x1p-17, 0x1p-15, 0x1p-10, 0x1p-24}) {
      for (const double sign : {-1.0, 1.0}) {
        for (const double lowest : {0.0, -5.0 * eps, 1e3 * eps}) {
          const std::vector<double> values = around_edges(eps, 1 + sign * slack, lowest);
          check_axis(make_axis(values, eps), values, eps);
        }
      }
    }
  }
}

TEST_CASE("cell axis: neighbours lie in the same or in adjacent slots, for values made to break it") {
  Random random(1);
  for (int round = 0; round < 60; ++round) {
    const double eps = std::ldexp(1 + random.unit(), static_cast<int>(random.below(60)) - 30);
    for (const double offset : {0.0, 1.0, -1e3 * eps, 1e6, -1e9, 1e15 * eps}) {
      const std::vector<double> values = adversarial(eps, offset, random);
      CellAxis axis = make_axis(values, eps);
      check_axis(axis, values, eps);
      for (int halvings = 0; halvings < 4; ++halvings) {
        axis.coarsen();
        check_axis(axis, values, eps);
      }
    }
  }
}

TEST_CASE("cell axis: slots are about as wide as eps, so that cells separate points") {
  std::vector<double> values;
  for (int i = 0; i <= 1000; ++i) values.push_back(i);
  const CellAxis axis = make_axis(values, 1.0);
  CHECK(axis.slots() >= 990);
  CHECK(axis.slots() <= 1001);
  CHECK(axis.slot(500) - axis.slot(100) >= 398);
  CellAxis coarse = axis;
  coarse.coarsen();
  CHECK(coarse.slots() >= 495);
  CHECK(coarse.slots() <= 501);
  CHECK(coarse.slot(1000) == axis.slot(1000) / 2);
}

TEST_CASE("cell axis: one far outlier cuts the axis at its gap and costs few slots") {
  Random random(2);
  for (const double outlier : {1e12, 1e15, 1e100, 1e300, 1.7e308, -1e300}) {
    for (const double eps : {1.0, 1e-3, 0.3, 1e-9}) {
      INFO("outlier " << outlier << ", eps " << eps);
      std::vector<double> values = adversarial(eps, 0, random);
      values.push_back(outlier);
      values.push_back(-outlier / 3);
      CellAxis axis = make_axis(values, eps);
      check_axis(axis, values, eps);
      if (std::abs(outlier) / eps > 1e10) CHECK(axis.slots() <= 3 * values.size() + 3);
      axis.coarsen();
      check_axis(axis, values, eps);
    }
  }
}

TEST_CASE("cell axis: many stretches, with gaps just wider and just narrower than the reach") {
  Random random(3);
  for (int round = 0; round < 100; ++round) {
    const double eps = std::ldexp(1 + random.unit(), static_cast<int>(random.below(20)) - 10);
    std::vector<double> values{0};
    for (int i = 0; i < 120; ++i) {
      const std::vector<double> steps{eps,
                                      std::nextafter(eps, 0),
                                      std::nextafter(eps, 1e9),
                                      eps * (1 + 0x1p-50),
                                      eps * (1 + 0x1p-16),
                                      eps * (1 + 0x1p-10),
                                      eps * 1.002,
                                      eps / 3,
                                      0,
                                      eps * 5,
                                      eps * 1e7};
      values.push_back(values.back() + random.pick(steps));
    }
    values.push_back(eps * 1e13);
    CellAxis axis = make_axis(values, eps);
    CHECK(axis.slots() <= 3 * values.size() + 3);
    check_axis(axis, values, eps);
    axis.coarsen();
    axis.coarsen();
    check_axis(axis, values, eps);
  }
}

TEST_CASE("cell axis: both sides of the length at which gaps are cut") {
  // The limit is 2^31 slots. The same points lie a little below and above it.
  for (const double extent : {0x1p31 * 0.999, 0x1p31 * 1.001, 0x1p33}) {
    std::vector<double> values{0, 1, 2, 2.5, extent / 2, extent / 2 + 1, extent - 1, extent};
    const CellAxis axis = make_axis(values, 1.0);
    check_axis(axis, values, 1.0);
    CHECK((axis.slots() > 1000) == (extent < 0x1p31));
  }
}

TEST_CASE("cell axis: tiny and huge radii") {
  std::vector<double> denormal;
  for (int i = 0; i < 30; ++i) denormal.push_back(5e-324 * i * i);
  denormal.push_back(1e-160);
  denormal.push_back(1.0);
  for (const double eps : {5e-324, 1e-310, 1e-200, 1e-160, 1e-10}) check_axis(make_axis(denormal, eps), denormal, eps);

  const std::vector<double> huge{-1.7e308, -1e200, 0, 1, 1e154, 1e200, 1.7e308};
  for (const double eps : {1.0, 1e100, 1.3e154, 1.4e154, 1e300}) check_axis(make_axis(huge, eps), huge, eps);
  CHECK(make_axis(huge, 1e300).slots() == 1);
}

TEST_CASE("cell axis: no points, one point, equal points") {
  CHECK(make_axis({}, 1).slots() == 1);
  CHECK(make_axis({42}, 1).slots() == 1);
  CHECK(make_axis({42}, 1).slot(42) == 0);
  CHECK(make_axis(std::vector<double>(100, -1e300), 1e-3).slots() == 1);
}

TEST_CASE("choose axes: up to six dimensions all are indexed, of more those of the largest variance") {
  Random random(5);
  std::vector<double> values;
  for (int i = 0; i < 500; ++i) {
    // Dimension k has the spread (4 * k) % 9: 0 4 8 3 7 2 6 1 5.
    for (int k = 0; k < 9; ++k) values.push_back(((k * 4) % 9) * random.uniform(-1, 1));
  }
  const CellAxes chosen = choose_axes(PointsView(std::span<const double>(values), 9), 0.5, Cells::eps, CancelToken());
  std::vector<std::size_t> dims;
  for (const CellAxis& axis : chosen.axes) dims.push_back(axis.dim());
  // The dimensions of spread 0, 1 and 2 are left out.
  CHECK(dims == std::vector<std::size_t>{1, 2, 3, 4, 6, 8});

  const CellAxes all =
      choose_axes(PointsView(std::span<const double>(values).first(600), 6), 0.5, Cells::eps, CancelToken());
  CHECK(all.axes.size() == 6);
}

TEST_CASE("choose axes: wide axes are coarsened until all keys fit, and neighbours stay adjacent") {
  Random random(6);
  for (const std::size_t dims : {2U, 3U, 4U, 5U, 6U}) {
    for (const double eps : {1e-9, 1e-6, 1e-3}) {
      INFO("d " << dims << ", eps " << eps);
      std::vector<double> values;
      for (std::size_t i = 0; i < 60 * dims; ++i) values.push_back(random.uniform(0, 1));
      // A copy of the first points, moved by up to eps, gives neighbours.
      for (std::size_t i = 0; i < 60 * dims; ++i) values.push_back(values[i] + eps * random.uniform(-0.4, 0.4));
      const CellAxes chosen =
          choose_axes(PointsView(std::span<const double>(values), dims), eps, Cells::eps, CancelToken());
      double log_keys = 0;
      for (const CellAxis& axis : chosen.axes) log_keys += std::log2(static_cast<double>(axis.slots()) + 2);
      CHECK(log_keys < 63);
      for (const CellAxis& axis : chosen.axes) {
        std::vector<double> along;
        for (std::size_t i = axis.dim(); i < values.size(); i += dims) along.push_back(values[i]);
        check_axis(axis, along, eps);
      }
    }
  }
}

/// Returns the cell of each point, axis by axis.
std::vector<std::vector<std::uint64_t>> slots_of(const CellAxes& chosen, const std::vector<double>& values,
                                                 std::size_t dims) {
  std::vector<std::vector<std::uint64_t>> slots;
  for (std::size_t i = 0; i < values.size(); i += dims) {
    slots.emplace_back();
    for (const CellAxis& axis : chosen.axes) slots.back().push_back(axis.slot(values[i + axis.dim()]));
  }
  return slots;
}

TEST_CASE("dense boxes: two points of a cell are neighbours, and neighbours are at most two cells apart") {
  Random random(7);
  std::size_t shared = 0;
  std::size_t far = 0;
  for (int round = 0; round < 120; ++round) {
    const std::size_t dims = 1 + random.below(3);
    const double eps = std::ldexp(1 + random.unit(), static_cast<int>(random.below(40)) - 20);
    const double side = SlotWidth::of_dense_box(eps, dims).side;
    const double offset = random.pick(std::vector<double>{0, 1, -1e3 * eps, 1e6 * eps, 1e9 * eps, 1e15 * eps});
    std::vector<double> values(dims, offset);
    for (int i = 0; i < 150; ++i) {
      for (std::size_t k = 0; k < dims; ++k) {
        // Values lie at edges of cells and an eps away from them, or one step to either side.
        const double edge = offset + side * static_cast<double>(random.below(6));
        const double x =
            random.pick(std::vector<double>{edge, edge + eps, edge + eps / std::sqrt(dims), edge + side / 2});
        values.push_back(random.pick(std::vector<double>{x, std::nextafter(x, 1e308), std::nextafter(x, -1e308)}));
      }
    }
    if (round % 3 == 0) values.insert(values.end(), dims, offset + 1e13 * eps);  // gaps are cut
    const PointsView points(std::span<const double>(values), dims);
    const CellAxes chosen = choose_axes(points, eps, Cells::dense_box, CancelToken());
    REQUIRE(chosen.window == 2);
    const auto slots = slots_of(chosen, values, dims);
    for (std::size_t a = 0; a < slots.size(); ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        const bool near = is_neighbor(&values[a * dims], &values[b * dims], dims, eps * eps);
        if (slots[a] == slots[b] && chosen.dense_boxes) {
          ++shared;
          REQUIRE(near);
        }
        if (!near) continue;
        for (std::size_t k = 0; k < dims; ++k) {
          const std::uint64_t apart = std::max(slots[a][k], slots[b][k]) - std::min(slots[a][k], slots[b][k]);
          REQUIRE(apart <= 2);
          if (apart == 2) ++far;
        }
      }
    }
  }
  CHECK(shared > 10'000);
  CHECK(far > 1'000);
}

TEST_CASE("dense boxes: only where their proof holds") {
  const std::vector<double> values{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  const auto dense_boxes = [&](std::size_t dims, double eps) {
    return choose_axes(PointsView(std::span<const double>(values), dims), eps, Cells::dense_box, CancelToken())
        .dense_boxes;
  };
  CHECK(dense_boxes(1, 1));
  CHECK(dense_boxes(2, 1e-3));
  CHECK(dense_boxes(3, 1e200));  // eps² is infinite, so there is one cell
  CHECK_FALSE(dense_boxes(4, 1));
  CHECK_FALSE(dense_boxes(2, 1e-160));  // squares underflow
  std::vector<double> wide;
  for (int i = 0; i < 300; ++i) wide.push_back(std::fmod(i * 0.754877, 1.0));
  const PointsView points(std::span<const double>(wide), 3);
  CHECK_FALSE(choose_axes(points, 1e-9, Cells::dense_box, CancelToken()).dense_boxes);  // the cells are coarsened
}

TEST_CASE("cell axis: a cancelled token stops it") {
  CancelToken token;
  token.cancel();
  const std::vector<double> values{0, 1};
  CHECK_THROWS_AS(CellAxis(PointsView(std::span<const double>(values), 1), 0, SlotWidth::of_reach(1), token),
                  Cancelled);
}

}  // namespace
}  // namespace epsflow::index
