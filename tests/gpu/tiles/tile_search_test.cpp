// Compares the pairs of a search by tiles with all pairs of points.
#include <epsflow/gpu/tiles/tile_search.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "gpu/tile_pairs.hpp"
#include "support/catch.hpp"
#include "support/gpu.hpp"
#include "support/random_points.hpp"

namespace epsflow::gpu {
namespace {

TEST_CASE("tile search: all pairs, on data of every kind") {
  if (!test::have_gpu()) return;
  Device device;
  for (std::uint64_t seed = 1; seed <= 80; ++seed) {
    INFO("seed " << seed);
    const DataSet data = test::random_data(seed, 500);
    if (data.size() == 0) continue;
    Random random(seed);
    check_case(device, data, test::make_eps(data, random));
  }
  for (const std::string& kind : test::data_kinds()) {
    for (const std::size_t dims : {9U, 18U, 65U}) {
      for (const Precision precision : {Precision::float32, Precision::float64}) {
        const DataSet data = test::make_data(kind, 300, dims, precision, dims);
        check_case(device, data, test::eps_of_share(data, 0.1));
        check_case(device, data, data.scale);
      }
    }
  }
}

TEST_CASE("tile search: all pairs, for every number of points and of dimensions about those of tiles and slices") {
  if (!test::have_gpu()) return;
  Device device;
  for (const std::size_t dims : {1U, 7U, 9U, 18U, 63U, 64U, 65U, 129U, 700U}) {
    for (const std::size_t n : {1U, 2U, 127U, 128U, 129U, 1000U, 3000U}) {
      if (n * dims > 200'000) continue;
      for (const Precision precision : {Precision::float32, Precision::float64}) {
        const DataSet data = test::make_data(n % 2 == 0 ? "clustered" : "quantised", n, dims, precision, n + dims);
        check_case(device, data, test::eps_of_share(data, 0.02));
      }
    }
  }
  for (const Precision precision : {Precision::float32, Precision::float64}) {
    const DataSet data = test::make_data("clustered", 300, 4095, precision, 1);
    check_case(device, data, test::eps_of_share(data, 0.05));
    check_case(device, data, test::eps_of_share(data, 0.5));
  }
}

/// Returns pairs along one axis each: a third exactly `eps` apart, a third one step less, a third one step more. The
/// other coordinates of a pair are equal, so the test of distance.hpp compares only eps² and its neighbours.
DataSet pairs_at(double eps, std::size_t dims, Precision precision, double spread) {
  Random random(dims);
  const auto beside = [&](double x, double towards) {
    return precision == Precision::float64
               ? std::nextafter(x, towards)
               : static_cast<double>(std::nextafter(static_cast<float>(x), static_cast<float>(towards)));
  };
  const std::array<double, 3> steps{eps, beside(eps, 0), beside(eps, 2 * eps)};
  std::vector<double> values;
  for (std::size_t i = 0; i < 240; ++i) {
    std::vector<double> point(dims);
    for (double& x : point) x = random.uniform(-spread, spread);
    point[i % dims] = 0;
    values.insert(values.end(), point.begin(), point.end());
    point[i % dims] = (i % 2 == 0 ? 1 : -1) * steps[i % 3];
    values.insert(values.end(), point.begin(), point.end());
  }
  return by_hand("pairs at eps", values, dims, precision);
}

TEST_CASE("tile search: pairs at exactly eps and one step beside it") {
  if (!test::have_gpu()) return;
  Device device;
  for (const std::size_t dims : {1U, 9U, 65U}) {
    for (const Precision precision : {Precision::float32, Precision::float64}) {
      for (const float eps : {1.0F, 3.7e-6F, 12345.678F}) {
        for (const double spread : {2.0, 1e3}) {
          const DataSet data = pairs_at(eps, dims, precision, spread * double{eps});
          check_case(device, data, double{eps});
          check_case(device, data, std::nextafter(double{eps}, 0.0));
          check_case(device, data, std::nextafter(double{eps}, 1e300));
        }
      }
    }
  }
}

TEST_CASE("tile search: most pairs at exactly eps, on a lattice") {
  if (!test::have_gpu()) return;
  Device device;
  for (const double step : {0.1, 1.0 / 3, 0.25}) {
    for (const std::size_t dims : {2U, 9U, 70U}) {
      Random random(dims);
      std::vector<double> values(1200 * dims);
      // There are few steps, so distances are roots of few integers.
      for (double& x : values) x = static_cast<double>(random.below(dims < 9 ? 20 : 2)) * step;
      const DataSet data = by_hand("lattice", values, dims, Precision::float64);
      for (const double squared : {1.0, 2.0, 9.0, 30.0}) {
        const double eps = step * std::sqrt(squared);
        check_case(device, data, eps);
        check_case(device, data, std::nextafter(eps, 0.0));
        check_case(device, data, std::nextafter(eps, 1e300));
      }
    }
  }
}

/// Returns integer coordinates lo … lo + range.
DataSet whole_numbers(std::size_t n, std::size_t dims, double lo, std::uint64_t range, Precision precision) {
  Random random(dims + range);
  std::vector<double> values(n * dims);
  for (double& x : values) x = lo + static_cast<double>(random.below(range + 1));
  return by_hand("whole numbers", values, dims, precision);
}

TEST_CASE("tile search: small whole numbers are told apart by half precision alone") {
  if (!test::have_gpu()) return;
  Device device;
  struct Case {
    std::size_t dims;
    double lo;
    std::uint64_t range;
  };
  // The last cases are near the limit, a squared norm of 2^20.
  for (const Case& c : {Case{2, 0, 15}, Case{9, -7, 14}, Case{33, 0, 9}, Case{129, 0, 15}, Case{700, 0, 1},
                        Case{9, 1e6, 20}, Case{1, -800, 1600}, Case{4, -420, 840}, Case{64, -100, 200}}) {
    for (const Precision precision : {Precision::float32, Precision::float64}) {
      const DataSet data = whole_numbers(600, c.dims, c.lo, c.range, precision);
      const double typical = test::eps_of_share(data, 0.05);
      for (const double eps : {1.0, typical, std::nextafter(typical, 0.0), std::nextafter(typical, 1e300),
                               std::floor(typical), std::floor(typical) + 0.5, 1e-9, 1024.0, 1e9}) {
        check_case(device, data, eps, [eps](DecideChoice decide, const TileFigures& figures) {
          REQUIRE(figures.filter == decide);
          if (decide == DecideChoice::tensor16 && eps <= 1024) REQUIRE(figures.undecided_pairs == 0);
        });
      }
    }
  }
}

TEST_CASE("tile search: whole numbers that are too large or too many, and one fraction among them") {
  if (!test::have_gpu()) return;
  Device device;
  for (const Precision precision : {Precision::float32, Precision::float64}) {
    DataSet data = whole_numbers(600, 3, -3000, 6000, precision);
    check_case(device, data, test::eps_of_share(data, 0.05));
    data = whole_numbers(600, 900, -100, 200, precision);
    check_case(device, data, test::eps_of_share(data, 0.05));
    data = whole_numbers(600, 5, 0, 6, precision);
    if (precision == Precision::float32) {
      data.floats.back() += 0.5F;
    } else {
      data.doubles.back() += 0x1p-40;
    }
    for (const double eps : {1.0, 3.0, std::sqrt(8.0)}) check_case(device, data, eps);
  }
}

TEST_CASE("tile search: magnitudes at both ends of the numbers") {
  if (!test::have_gpu()) return;
  Device device;
  for (const std::size_t dims : {2U, 65U}) {
    const DataSet clustered = test::make_data("clustered", 400, dims, Precision::float64, dims);
    const double eps = test::eps_of_share(clustered, 0.1);
    // Scales beyond 2^1000 leave hardly a bit below the maximum. 1e-310 is subnormal.
    for (const double scale : {1e-310, 1e-200, 1e-160, 1e-30, 1e30, 1e150, 1e300, 1e305, 1.5e307}) {
      std::vector<double> values = clustered.doubles;
      for (double& x : values) x *= scale;
      const DataSet data =
          by_hand("clustered times " + std::to_string(std::log10(scale)), values, dims, Precision::float64);
      if (eps * scale > 0 && std::isfinite(eps * scale)) check_case(device, data, eps * scale);
      for (const double other : {1e-160, 1e-100, 1.0, 1e100, 1e160}) check_case(device, data, other);
      if (scale != 1e-30 && scale != 1e30) continue;
      check_case(device, by_hand(data.kind, values, dims, Precision::float32), eps * scale);
    }
  }
}

TEST_CASE("tile search: equal points and nearly equal ones, wherever they are") {
  if (!test::have_gpu()) return;
  Device device;
  for (const std::size_t dims : {1U, 9U, 65U}) {
    const DataSet distinct = test::make_data("uniform", 60, dims, Precision::float64, dims);
    // At the largest scale, a coordinate is close to the largest number.
    for (const double scale : {1e-300, 1e-100, 1.0, 1e100, 1e290, 1e303, 1e305, 1e306, 2e307}) {
      Random random(7);
      std::vector<double> values;
      for (std::size_t i = 0; i < 300; ++i) {
        const std::uint64_t which = random.below(distinct.size());
        for (std::size_t k = 0; k < dims; ++k) {
          const double x = distinct.doubles[which * dims + k] * scale;
          values.push_back(random.chance(0.9) ? x : std::nextafter(x, 0));
        }
      }
      const DataSet data =
          by_hand("crowds times " + std::to_string(std::log10(scale)), values, dims, Precision::float64);
      for (const double eps : {1e-120, 1.0, 1e120}) check_case(device, data, eps);
    }
  }
}

TEST_CASE("tile search: where no frame holds the differences, float64 decides all") {
  if (!test::have_gpu()) return;
  Device device;
  for (const std::size_t dims : {1U, 9U}) {
    Random random(dims);
    std::vector<double> values(300 * dims);
    for (double& x : values) x = 1.7e308 * (1 - 1e-3 * random.unit());
    values[137 * dims] = -1.7e308;  // farther from the others than the largest number
    const DataSet data = by_hand("two ends", values, dims, Precision::float64);
    const auto scalar = [](DecideChoice, const TileFigures& figures) {
      REQUIRE(figures.filter == DecideChoice::scalar);
      REQUIRE(figures.undecided_pairs == 0);
    };
    for (const double eps : {1.0, 1e100, 1e300}) check_case(device, data, eps, scalar);
  }
}

TEST_CASE("tile search: radii far below and far above all distances") {
  if (!test::have_gpu()) return;
  Device device;
  for (const char* kind : {"clustered", "duplicates", "all equal", "outlier 1e15", "outlier 1e300", "offset 1e6"}) {
    for (const Precision precision : {Precision::float32, Precision::float64}) {
      const DataSet data = test::make_data(kind, 400, 9, precision, 3);
      // The squares of the first three underflow, and the squares of the last two overflow.
      for (const double eps : {5e-324, 1e-200, 1e-160, 1e-30, 1e-9, 1e9, 1e30, 1e155, 1e300}) {
        check_case(device, data, eps);
      }
    }
  }
}

TEST_CASE("tile search: where squares of eps leave the normal numbers, float64 decides all") {
  if (!test::have_gpu()) return;
  Device device;
  const DataSet data = test::make_data("duplicates", 300, 9, Precision::float64, 1);
  for (const double eps : {1e-160, 1e-140, 1e140, 1e160}) {
    check_case(device, data, eps,
               [](DecideChoice, const TileFigures& figures) { REQUIRE(figures.filter == DecideChoice::scalar); });
  }
}

TEST_CASE("tile search: coordinates a million times eps") {
  if (!test::have_gpu()) return;
  Device device;
  for (const std::size_t dims : {2U, 18U, 129U}) {
    Random random(dims);
    // Half precision separates none of these pairs, so most are undecided.
    std::vector<double> values;
    for (std::size_t i = 0; i < 500; ++i) {
      std::vector<double> point(dims);
      for (double& x : point) x = random.uniform(-1, 1);
      values.insert(values.end(), point.begin(), point.end());
      const double step = 1e-6 * random.uniform(0.5, 1.5) / std::sqrt(static_cast<double>(dims));
      for (double& x : point) x += random.chance(0.5) ? step : -step;
      values.insert(values.end(), point.begin(), point.end());
    }
    for (const Precision precision : {Precision::float32, Precision::float64}) {
      check_case(device, by_hand("close pairs", values, dims, precision), 1e-6);
    }
    // All points are close together except two far ones, which determine the scale.
    std::vector<double> crowd(800 * dims);
    for (double& x : crowd) x = 1e-6 * random.unit();
    crowd.front() = 1;
    crowd.back() = -1;
    const DataSet data = by_hand("a crowd between far ones", crowd, dims, Precision::float64);
    check_case(device, data, test::eps_of_share(data, 0.3));
  }
}

TEST_CASE("tile search: left open, pairs are decided in half precision unless that leaves too many open") {
  if (!test::have_gpu()) return;
  Device device;
  struct Case {
    double spread;  ///< spread of the clusters, each about 1 wide
    DecideChoice expected;
  };
  for (const Case c : {Case{1, DecideChoice::tensor16}, Case{1e5, DecideChoice::tensor64}}) {
    INFO("clusters within " << c.spread);
    Random random(11);
    constexpr std::size_t kDims = 20;
    std::vector<double> centres(8 * kDims), values(1500 * kDims);
    for (double& x : centres) x = c.spread * random.unit();
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = centres[i / kDims % 8 * kDims + i % kDims] + 0.6 * random.unit();
    }
    const DataSet data = by_hand("clusters", values, kDims, Precision::float64);
    const DevicePoints points(data.view(), 0, device.memory, device.pinned, 2);
    for (const auto kind : kKinds) {
      INFO(name_of(kind));
      const auto tiles =
          std::make_shared<const DeviceTileOrder>(points, 1, kind, device.memory, device.pinned, device.cancel);
      TileSearch search(points, tiles, {.eps = 1, .decide = DecideChoice::automatic}, device.memory, device.cancel);
      REQUIRE(search.figures().filter == c.expected);
      PairTimes found;
      collect_lists(search, found);
      const PairTimes expected = expected_pairs(data, 1);
      REQUIRE(count_pairs(expected) > 0);
      require_same(found, expected, data.size());
    }
  }
}

}  // namespace
}  // namespace epsflow::gpu
