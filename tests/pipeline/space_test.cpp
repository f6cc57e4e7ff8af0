// Compares labels, neighbours and predictions by other norms and in periodic boxes with independent sums: a distance in
// a box is the least distance to any copy of a point.
#include <epsflow/core/space.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string_view>
#include <vector>

#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/metric_check.hpp"
#include "support/oracle.hpp"
#include "support/random_points.hpp"

#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/core/metric.hpp>
#include <epsflow/pipeline/engine.hpp>
#include <epsflow/pipeline/neighbors.hpp>
#include <epsflow/pipeline/plan.hpp>
#include <epsflow/pipeline/predict.hpp>
#include <epsflow/pipeline/selectivity.hpp>
#include <epsflow/pipeline/sweep.hpp>

namespace epsflow::test {
namespace {

/// Returns the distance of two points by a metric: the minimum over all 3^d copies of the second.
Real distance_over_copies(const Metric& metric, const std::vector<Real>& p, const std::vector<Real>& q) {
  const std::size_t dims = p.size();
  const auto closed = [&](std::size_t k) { return !metric.box.empty() && metric.box[k].closed(); };
  std::vector<int> copy(dims, 0);
  for (std::size_t k = 0; k < dims; ++k) copy[k] = closed(k) ? -1 : 0;
  Real least = std::numeric_limits<Real>::infinity();
  while (true) {
    Real sum = 0;
    for (std::size_t k = 0; k < dims; ++k) {
      const Real scale = metric.scale.empty() ? 1 : metric.scale[k];
      const Real length = closed(k) ? Real{metric.box[k].hi} - metric.box[k].lo : 0;
      const Real t = std::abs(p[k] - q[k] - copy[k] * length) * scale;
      switch (metric.kind) {
        case MetricKind::manhattan:
          sum += t;
          break;
        case MetricKind::chebyshev:
          sum = std::max(sum, t);
          break;
        case MetricKind::minkowski:
          sum += std::pow(t, Real{metric.power});
          break;
        default:
          sum += t * t;
      }
    }
    if (metric.kind == MetricKind::minkowski) sum = std::pow(sum, 1 / Real{metric.power});
    if (metric.kind == MetricKind::euclidean) sum = std::sqrt(sum);
    least = std::min(least, sum);
    std::size_t k = 0;
    while (k < dims && (copy[k] == 1 || !closed(k))) copy[k] = closed(k) ? -1 : 0, ++k;
    if (k == dims) return least;
    ++copy[k];
  }
}

std::vector<std::vector<Real>> rows_of(PointsView points) {
  std::vector<std::vector<Real>> rows(points.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (std::size_t k = 0; k < points.dims(); ++k) rows[i].push_back(points.at(i, k));
  }
  return rows;
}

/// Checks all ways. Unless `exact` is true, no pair may be so near to eps that rounding matters.
void check_all_ways(PointsView points, const Metric& metric, double eps, bool exact = false) {
  const auto rows = rows_of(points);
  const auto distance = [&](std::size_t i, std::size_t j) { return distance_over_copies(metric, rows[i], rows[j]); };
  const OracleTable expected = table_by(points.size(), eps, exact ? -1 : 1e-12L * eps, distance);
  // Coordinates in a box are rounded to a fixed grid.
  check_all_ways(points, metric, eps, expected, distance, 1e-12L * eps + 1e-15L);
}

const std::initializer_list<Metric> kNorms{{.kind = MetricKind::euclidean},
                                           {.kind = MetricKind::manhattan},
                                           {.kind = MetricKind::chebyshev},
                                           {.kind = MetricKind::minkowski, .power = 3},
                                           {.kind = MetricKind::minkowski, .power = 1.5}};

/// Returns points in a box, with clusters across its faces, edges and corners, and some points on its bounds.
std::vector<double> in_box(const std::vector<BoxSide>& box, std::size_t n, std::uint64_t seed) {
  Random random(seed);
  std::vector<double> values;
  for (std::size_t i = 0; i < n; ++i) {
    for (const BoxSide& side : box) {
      const double length = side.closed() ? side.hi - side.lo : 10;
      double u = random.unit();
      if (i % 3 != 0) u = (static_cast<double>(i % 5) / 5 + 0.08 * u);
      if (i % 3 == 1) u = (u < 0.5 ? 0.04 * u : 1 - 0.04 * (1 - u));
      double x = side.lo + length * u;
      if (side.closed()) x = std::clamp(x, side.lo, side.hi);
      if (side.closed() && i % 41 == 0) x = i % 2 == 0 ? side.lo : side.hi;
      values.push_back(x);
    }
  }
  return values;
}

TEST_CASE("space: other norms, in any number of dimensions") {
  for (const Metric& metric : kNorms) {
    for (const std::size_t dims : {1U, 2U, 3U, 5U, 9U}) {
      for (const Precision precision : {Precision::float32, Precision::float64}) {
        const DataSet data = make_data("clustered", 120, dims, precision, dims);
        for (const double eps : {data.scale * 1.0123, data.scale / 7}) {
          INFO(describe(metric) << ", " << dims << "-D, eps " << eps);
          check_all_ways(data.view(), metric, eps);
        }
      }
    }
  }
}

TEST_CASE("space: periodic boxes, whatever their sides, up to an eps that is longer than they are") {
  const std::vector<std::vector<BoxSide>> boxes{
      {{0, 1}},
      {{-3.5, 6.6}},
      {{0, 250}, {0, 250}},
      {{-1, 1}, {}},
      {{}, {100, 107.3}},
      {{0, 1}, {0, 1}, {0, 1}},
      {{0, 31}, {5, 6.1}, {-2, -0.5}},
      {{}, {0, 10}, {}},
      {{0, 3}, {0, 3}, {}, {0, 7}},
      {{0, 2}, {}, {0, 2}, {}, {0, 2}},
  };
  std::uint64_t seed = 0;
  for (const std::vector<BoxSide>& box : boxes) {
    const std::size_t n = box.size() > 3 ? 80 : 150;
    const std::vector<double> values = in_box(box, n, ++seed);
    double shortest = 1e9;
    for (const BoxSide& side : box) shortest = side.closed() ? std::min(shortest, side.hi - side.lo) : shortest;
    const PointsView view(values, box.size());
    for (const double share : {0.0173, 0.09, 0.2871, 0.45, 0.7123, 1.3}) {
      const double eps = share * shortest;
      INFO(box.size() << "-D, box " << seed << ", eps " << eps);
      check_all_ways(view, {.box = box}, eps);
    }
  }
}

TEST_CASE("space: periodic boxes whose points are all far from the faces, or nearly all in a corner") {
  const std::vector<BoxSide> box{{0, 10}, {-5, 5}, {0, 10}};
  Random random(9);
  for (const bool corner : {false, true}) {
    std::vector<double> values;
    for (std::size_t i = 0; i < 200 * 3; ++i) {
      const double lo = box[i % 3].lo;
      const double u = random.unit() * random.unit();
      // The points at a corner have seven images each; a few points are isolated.
      values.push_back(corner && i % 60 >= 3 ? (u < 0.3 ? lo + 2 * u : lo + 10 - u / 2) : lo + 4 + 2 * u);
    }
    const PointsView view(values, 3);
    for (const double eps : {0.1123, 0.41, 0.871}) {
      INFO("corner " << corner << ", eps " << eps);
      check_all_ways(view, {.box = box}, eps);
    }
  }
}

TEST_CASE("space: points on faces, with an eps of few units in the last place of theirs, or less") {
  struct Case {
    BoxSide side;
    std::vector<double> values;
    std::vector<double> radii;
  };
  const double grain = 0x1p-43;
  const std::vector<Case> cases{
      {{0, 10}, {0, 10, 5}, {1e-20, 1e-16, 4e-16, 1e-15}},
      {{0, 250}, {0, 250, 3}, {1e-15, 1e-13}},
      {{1000, 1003}, {1000, 1003, 1001}, {1e-14, 1e-13}},
      {{1000, 1003},
       {1000, 1003 - grain, 1003 - 2 * grain, 1001.5, 1000 + grain, 1000 + 3 * grain, 1003 - 4 * grain},
       {grain, 2 * grain, 3 * grain, 4 * grain}},
  };
  for (const Case& c : cases) {
    for (const double eps : c.radii) {
      INFO("a side from " << c.side.lo << " to " << c.side.hi << ", eps " << eps);
      const PointsView line(std::span<const double>(c.values), 1);
      check_all_ways(line, {.box = {c.side}}, eps, true);
      std::vector<double> pairs;
      for (const double x : c.values) {
        for (const double y : {c.side.lo, c.side.hi, c.values[2]}) pairs.insert(pairs.end(), {x, y});
      }
      const PointsView plane(pairs, 2);
      check_all_ways(plane, {.box = {c.side, c.side}}, eps, true);
    }
  }
}

TEST_CASE("space: periodic boxes by every norm, scaled") {
  const std::vector<BoxSide> box{{0, 20}, {}, {0, 13.7}};
  const std::vector<double> values = in_box(box, 120, 77);
  const PointsView view(values, 3);
  for (Metric metric : kNorms) {
    metric.box = box;
    for (const bool scaled : {false, true}) {
      if (scaled) metric.scale = {0.3, 2, 1.1};
      for (const double eps : {1.0123, 5.3}) {
        INFO(describe(metric) << ", eps " << eps);
        check_all_ways(view, metric, eps);
      }
    }
  }
}

TEST_CASE("space: pairs at eps itself, the other way round too") {
  // Coordinates are multiples of 1/8, whose differences and squares are exact.
  for (const std::size_t dims : {1U, 2U, 3U}) {
    Random random(dims);
    std::vector<float> values(150 * dims);
    for (float& x : values) x = static_cast<float>(random.below(65)) / 8;
    const PointsView view(values, dims);
    for (const MetricKind kind : {MetricKind::euclidean, MetricKind::manhattan, MetricKind::chebyshev}) {
      for (const bool closed : {false, true}) {
        Metric metric{.kind = kind};
        if (closed) metric.box.assign(dims, {0, 8});
        for (const double eps : {0.125, 0.625, 1.25, 4.0}) {
          INFO(describe(metric) << ", " << dims << "-D, eps " << eps);
          check_all_ways(view, metric, eps, true);
        }
      }
    }
  }
}

TEST_CASE("space: boxes of more slots than an axis holds") {
  const std::vector<double> values{0, 1e-9, 1, 0.5, 0.5 + 1e-12, 1 - 1e-12, 0.25, 0.75};
  const PointsView view(values, 1);
  for (const double eps : {1e-15, 2.5e-12, 3e-10, 2e-9}) {
    INFO("eps " << eps);
    check_all_ways(view, {.box = {{0, 1}}}, eps);
  }
  const std::vector<double> six(6 * 3, 0.25);
  const PointsView wide(six, 6);
  check_all_ways(wide, {.box = std::vector<BoxSide>(6, {0, 1})}, 1e-7);
}

TEST_CASE("space: a box so much larger than the points that it would move them is refused") {
  const Engine engine({.threads = 2, .backend = BackendChoice::cpu});
  Random random(31);
  std::vector<double> values;
  for (int i = 0; i < 400; ++i) values.push_back(50 * random.unit());
  const PointsView plane(values, 2);
  const auto refused_at_once = [&](PointsView view, const Metric& metric,
                                   std::initializer_list<std::string_view> parts) {
    check_error<InputError>(parts, [&] { (void)engine.load(view, metric); });
  };
  const auto refused = [&](PointsView view, const Metric& metric, double eps) {
    const auto error = [&](const auto& call) {
      check_error<UsageError>({"Metric::box", "column ", "eps " + format_number(eps), "fits"}, call);
    };
    const Dataset data = engine.load(view, metric);
    const std::vector<double> list{eps};
    const std::vector<std::int32_t> labels(view.size(), 0);
    error([&] { (void)run(data, grid({1e9, eps}, {2})); });
    error([&] { (void)plan(data, grid({eps}, {2})); });
    error([&] { (void)neighbors(data, eps); });
    error([&] { (void)selectivity(data, list, 10); });
    error([&] { (void)predict({view, labels, eps, metric}, view); });
  };
  // The box is too large for the extent of all points: rounding would merge them at any eps.
  refused_at_once(plane, {.box = {{0, 1e17}, {}}},
                  {"Metric::box", "from 0 to 1e+17", "column 0", "of 32", "within 49."});
  refused_at_once(plane, {.box = {{}, {-1e12, 1e12}}}, {"column 1"});
  refused_at_once(plane, {.scale = {1e-3, 1e-3}, .box = {{0, 1e15}, {}}}, {"column 0", "once scaled", "within 0.049"});
  // The box is too large for eps.
  refused(plane, {.box = {{0, 1e9}, {}}}, 1e-3);
  std::vector<double> one_is_wide = values;
  for (std::size_t i = 1; i < one_is_wide.size(); i += 2) one_is_wide[i] *= 1e12;
  const PointsView wide(one_is_wide, 2);
  refused(wide, {.box = {{0, 1e14}, {}}}, 1e-1);
  for (const double eps : {0.9, 7.123}) {  // no point is near a face
    const auto labels = [&](const Metric& metric) {
      return std::move(run(engine.load(plane, metric), grid({eps}, {3})).front().labels);
    };
    CHECK(labels({.box = {{0, 1e9}, {}}}) == labels({}));
  }
  // Rounded coordinates that keep their distances, or coordinates that are not rounded, are accepted.
  const std::vector<double> flat{0.1, 1, 0.1, 2, 0.1, 3.5};
  const std::vector<double> whole{0, 32, 64, 128, 320, 352};
  const Metric large{.box = {{0, 1e17}, {}}};
  for (const std::vector<double>* const points : {&flat, &whole}) {
    const PointsView view(std::span<const double>(*points), 2);
    check_all_ways(view, large, 1.25, true);
  }
  const PointsView one(std::span<const double>(values).first(2), 2);
  CHECK(run(engine.load(one, large), grid({1e-3}, {1})).front().summary.clusters == 1);
  CHECK(run(engine.load(PointsView(std::span<const double>(), 2), large), grid({1e-3}, {1})).size() == 1);
}

TEST_CASE("space: what has no such distance is refused, with the culprit and the remedy") {
  const Engine engine({.threads = 1, .backend = BackendChoice::cpu});
  const std::vector<double> values{1, 2, 3, 4};
  const PointsView view(values, 2);
  const auto usage = [&](const Metric& metric, std::initializer_list<std::string_view> parts) {
    check_error<UsageError>(parts, [&] { (void)engine.load(view, metric); });
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  usage({.power = 3}, {"Metric::power", "minkowski"});
  usage({.kind = MetricKind::minkowski, .power = 0.5}, {"Metric::power", "0.5", "1 on"});
  usage({.kind = MetricKind::minkowski, .power = nan}, {"Metric::power", "nan"});
  usage({.box = {{0, 10}}}, {"Metric::box", "1 side", "2 columns"});
  usage({.box = {{0, 10}, {5, 1}}}, {"Metric::box", "from 5 to 1"});
  usage({.box = {{0, 10}, {0, nan}}}, {"Metric::box", "to nan"});
  usage({.box = {{0, 1e308}, {}}}, {"Metric::box", "1e+308", "another unit"});
  usage({.scale = {1e10, 1}, .box = {{0, 1e300}, {}}}, {"Metric::box", "scaled by 1e+10"});
  usage({.scale = {1e-300, 1}, .box = {{0, 1e-300}, {}}}, {"Metric::box", "scaled by 1e-300"});
  usage({.box = {{9007199254740991, 9007199254740992}, {}}}, {"Metric::box", "too coarse"});
  usage({.kind = MetricKind::cosine, .box = {{0, 10}, {0, 10}}}, {"Metric::box", "cosine"});
  check_error<InputError>({"4 in row 1, column 1", "outside the box", "0 to 3.5"}, [&] {
    (void)engine.load(view, {.box = {{}, {0, 3.5}}});
  });
  check_error<InputError>({"4 in row 1, column 1", "outside the box"}, [&] {
    (void)engine.load(view, {.scale = {2, 2}, .box = {{}, {0, 3.5}}});
  });
  const Dataset data = engine.load(view, {.kind = MetricKind::manhattan});
  check_error<UsageError>({"SearchOptions::index", "tree", "leave it out"},
                          [&] { (void)run(data, grid({1}, {2}), {.search = {.index = IndexChoice::tree}}); });
  const Dataset powers = engine.load(view, {.kind = MetricKind::minkowski, .power = 50});
  check_error<UsageError>({"1e-30", "power 50", "Metric::scale"}, [&] { (void)run(powers, grid({1e-30}, {2})); });
}

}  // namespace
}  // namespace epsflow::test
