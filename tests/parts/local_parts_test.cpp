#include <epsflow/parts/local_parts.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "support/catch.hpp"
#include "support/random_points.hpp"

#include <epsflow/parts/ranked_bits.hpp>

namespace epsflow::parts {
namespace {

using test::Random;

/// Returns uniform points, some equal and some far out. If `steps` is not 0, they lie on a lattice with 1 / steps.
template <class T>
Points make(std::size_t n, std::size_t dims, Precision precision, double steps, Random& random) {
  Points points(n, dims, precision);
  for (T& x : points.values<T>()) {
    double value = random.uniform(0, 1);
    if (random.chance(0.05)) value = 0.25;
    if (random.chance(1e-4)) value = random.uniform(-1e6, 1e6);
    if (steps > 0) value = std::floor(value * steps) / steps;
    x = static_cast<T>(value);
  }
  return points;
}

/// Checks all fields of a view with the rule for single points.
void check_view(PointsView points, const LocalParts& parts, const Partition& cuts, std::size_t part, double inner,
                double outer) {
  const PartView view = parts.view(part, inner, outer);
  const PointsSource source = parts.source(view, inner, outer);
  REQUIRE(source.size == view.size());
  Points found(source.size, points.dims(), points.precision());
  const auto write = [&](auto values) {
    const std::size_t middle = source.size / 3;  // rows are written in any order and in ranges of any size
    source.write(middle, source.size, values.data() + middle * points.dims());
    source.write(0, middle, values.data());
  };
  points.precision() == Precision::float32 ? write(found.values<float>()) : write(found.values<double>());
  std::vector<std::size_t> owned;
  std::size_t within = 0, beyond = 0, send_list = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto at = [&](std::size_t k) { return points.at(i, k); };
    const std::uint32_t of = cuts.part_of(at);
    if (of == part) owned.push_back(i);
    cuts.for_near(at, outer, [&](std::uint32_t to, double distance) {
      if (to == of) return;
      if (to == part) ++(distance <= inner ? within : beyond);
      if (of == part && distance <= inner) ++send_list;
    });
  }
  REQUIRE(view.owned == owned.size());
  REQUIRE(parts.rows().size(part) == owned.size());
  CHECK(view.inner == within);
  CHECK(view.outer == beyond);
  CHECK(view.send_list.size() == send_list);
  CHECK(view.send_begins.back() == send_list);
  CHECK(view.inner_begins.back() == within);
  bool same = true;
  for (std::size_t id = 0; id < owned.size(); ++id) {
    for (std::size_t k = 0; k < points.dims(); ++k) {
      same = same && found.view().at(id, k) == points.at(owned[id], k);
    }
  }
  CHECK(same);
  // Ghosts lie outside the part, within the distances of the view.
  const Partition::Box box = cuts.box_of(static_cast<std::uint32_t>(part), points.dims());
  bool near_enough = true;
  for (std::size_t g = view.owned; g < view.size(); ++g) {
    double distance = 0;
    for (std::size_t k = 0; k < points.dims(); ++k) {
      const double x = found.view().at(g, k);
      distance = std::max({distance, box.lo[k] - x, x - box.hi[k]});
    }
    near_enough = near_enough && distance <= (g < view.owned + view.inner ? inner : outer);
  }
  CHECK(near_enough);
  std::vector<std::uint32_t> ids, rows;
  for (std::uint32_t id = 0; id < owned.size(); id += 7) {
    ids.push_back(id);
    rows.push_back(static_cast<std::uint32_t>(owned[id]));
  }
  CHECK(parts.rows().rows_of(part, ids) == rows);
}

}  // namespace

TEST_CASE("local parts: own points and ghosts are those of the cuts") {
  for (const auto& [n, dims, count, steps] :
       {std::tuple(3000U, 1U, 5U, 0.0), std::tuple(20'000U, 2U, 40U, 0.0), std::tuple(9000U, 4U, 7U, 8.0),
        std::tuple(0U, 2U, 3U, 0.0), std::tuple(60'000U, 3U, 6U, 0.0), std::tuple(70'000U, 2U, 5U, 64.0),
        std::tuple(50'000U, 5U, 4U, 0.0)}) {
    CAPTURE(n, dims, count, steps);
    Random random(n + dims);
    const bool single = dims % 2 == 1;
    const Points points = single ? make<float>(n, dims, Precision::float32, steps, random)
                                 : make<double>(n, dims, Precision::float64, steps, random);
    const Partition cuts = cut_space(points, count);
    REQUIRE(cuts.parts() == count);
    const LocalParts parts(points, {}, cuts, Space{}, {0.01, 0.02, 0.04});
    for (std::size_t part = 0; part < count; part += 3) {
      check_view(points, parts, cuts, part, 0.02, 0.04);
      check_view(points, parts, cuts, part, 0.01, 0.02);
    }
  }
}

TEST_CASE("local parts: numbers of a set, and their positions in it") {
  Random random(4);
  for (const std::size_t size : {1U, 63U, 64U, 5000U, 200'000U}) {
    RankedBits bits(size);
    std::vector<std::uint32_t> put;
    for (std::uint32_t i = 0; i < size; ++i) {
      if (!random.chance(0.3)) continue;
      bits.put(i);
      put.push_back(i);
    }
    REQUIRE(bits.count() == put.size());
    CHECK(bits.list() == put);
    bool same = true;
    for (std::uint32_t k = 0; k < put.size(); ++k) same = same && bits.rank(put[k]) == k;
    CHECK(same);
  }
}

}  // namespace epsflow::parts
