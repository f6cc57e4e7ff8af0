// Compares labels that the device makes without a table with the oracle, with known labels and with the CPU.
#include <epsflow/gpu/direct/device_clustering.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/gpu.hpp"
#include "support/oracle.hpp"
#include "support/random_points.hpp"
#include "support/watchdog.hpp"

#include <epsflow/core/error.hpp>
#include <epsflow/gpu/direct/dense_box_clustering.hpp>
#include <epsflow/gpu/direct/direct_task.hpp>
#include <epsflow/index/cell_axes.hpp>
#include <epsflow/pipeline/sweep.hpp>

namespace epsflow::gpu {
namespace {

using test::DataSet;
using test::OracleLabels;
using test::OracleTable;
using test::Random;

struct Labelling {
  std::vector<std::int32_t> labels;
  std::vector<std::uint8_t> core;
  LabelSummary summary;
  std::vector<std::uint32_t> first_cores;
};

/// Holds a device and everything that a clustering on it needs.
class Bench {
 public:
  /// Returns one labelling for each minpts. The minpts must descend.
  std::vector<Labelling> cluster(const DevicePoints& points, double eps, const std::vector<std::uint32_t>& minpts) {
    const std::uint32_t n = points.device().size;
    const auto clustering =
        make_device_clustering({points, eps, {minpts.front(), minpts.back()}, memory_, pinned_, cancel_});
    return cluster(*clustering, n, minpts);
  }
  std::vector<Labelling> cluster(DeviceClustering& clustering, std::uint32_t n,
                                 const std::vector<std::uint32_t>& minpts) {
    std::vector<Labelling> made;
    const Stream& stream = clustering.stream();
    for (const std::uint32_t m : minpts) {
      const DeviceBuffer<std::int32_t> labels(memory_, stream.get(), n);
      const DeviceBuffer<std::uint8_t> core(memory_, stream.get(), n);
      // Values that are not written become visible.
      if (n > 0) check(cudaMemsetAsync(labels.data(), 0x77, labels.bytes(), stream.get()));
      if (n > 0) check(cudaMemsetAsync(core.data(), 0x77, core.bytes(), stream.get()));
      Labelling& labelling = made.emplace_back();
      United& united = clustering.unite(m);
      // first_cores() is also called before the labels are made: pairs of huge cells may be undecided until then.
      const bool before = minpts.size() > 1;
      if (before) labelling.first_cores = united.first_cores();
      const LabelTarget target{labels.data(), core.data()};
      labelling.summary = united.label({&target, 1}).front().summary;
      if (before) REQUIRE(united.first_cores() == labelling.first_cores);
      if (!before) labelling.first_cores = united.first_cores();
      if (n > 0) labelling.labels = read_values(labels.data(), n, stream.get());
      if (n > 0) labelling.core = read_values(core.data(), n, stream.get());
      REQUIRE(labelling.first_cores == test::first_cores(labelling.labels, labelling.core));
    }
    return made;
  }
  std::vector<Labelling> cluster(PointsView points, double eps, const std::vector<std::uint32_t>& minpts) {
    const DevicePoints device(points, 0, memory_, pinned_, 2);
    return cluster(device, eps, minpts);
  }

  DeviceMemory& memory() { return memory_; }
  PinnedPool& pinned() { return pinned_; }
  CancelToken& cancel() { return cancel_; }

 private:
  CancelToken cancel_;
  DeviceMemory memory_{0, 4ULL << 30};
  PinnedPool pinned_;
};

void check_oracle(Bench& bench, const DataSet& data, double eps, std::vector<std::uint32_t> minpts) {
  std::sort(minpts.begin(), minpts.end(), std::greater<>());
  INFO(test::describe(data) << ", eps " << eps);
  const OracleTable table = data.oracle(eps);
  const std::vector<Labelling> nested = bench.cluster(data.view(), eps, minpts);
  for (std::size_t v = 0; v < minpts.size(); ++v) {
    INFO("minpts " << minpts[v]);
    const OracleLabels expected = test::oracle_labels(table, minpts[v]);
    const std::vector<Labelling> alone = bench.cluster(data.view(), eps, {minpts[v]});
    for (const Labelling* found : {&nested[v], &alone[0]}) {
      REQUIRE(found->labels == expected.labels);
      REQUIRE(found->summary == expected.summary);
      for (std::size_t i = 0; i < data.size(); ++i) {
        REQUIRE(int{found->core[i]} == (table.rows[i].size() >= minpts[v] ? 1 : 0));
      }
    }
  }
}

DataSet doubles(std::vector<double> values, std::size_t dims) {
  DataSet data;
  data.kind = "by hand";
  data.dims = dims;
  data.doubles = std::move(values);
  return data;
}

std::vector<std::uint32_t> all_minpts(std::size_t n) {
  return {1, 2, 3, 5, static_cast<std::uint32_t>(n), static_cast<std::uint32_t>(n + 1)};
}

TEST_CASE("device clustering: the oracle's labels on data of every kind") {
  if (!test::have_gpu()) return;
  Bench bench;
  for (std::uint64_t seed = 1; seed <= 250; ++seed) {
    INFO("seed " << seed);
    const DataSet data = test::random_data(seed, 400);
    Random random(seed);
    const double eps = test::make_eps(data, random);
    check_oracle(
        bench, data, eps,
        {1, 2, static_cast<std::uint32_t>(3 + random.below(6)), static_cast<std::uint32_t>(10 + random.below(60))});
  }
}

TEST_CASE("device clustering: every kind, dimension and precision") {
  if (!test::have_gpu()) return;
  Bench bench;
  for (const std::string& kind : test::data_kinds()) {
    for (std::size_t dims = 1; dims <= 8; ++dims) {
      for (const Precision precision : {Precision::float32, Precision::float64}) {
        const DataSet data = test::make_data(kind, 260, dims, precision, 7 * dims + 1);
        check_oracle(bench, data, data.scale, {1, 2, 4, 12});
        check_oracle(bench, data, data.scale * 3, {2, 40});
      }
    }
  }
}

TEST_CASE("device clustering: none, one, and minpts about the number of points") {
  if (!test::have_gpu()) return;
  Bench bench;
  for (const std::size_t dims : {1U, 2U, 3U, 5U}) {
    for (const std::size_t n : {0U, 1U, 2U, 31U, 32U, 33U, 257U}) {
      const DataSet data = test::make_data("uniform", n, dims, Precision::float64, n + 1);
      for (const double eps : {1e-9, 0.7, 1e9}) check_oracle(bench, data, eps, all_minpts(n));
    }
  }
}

TEST_CASE("device clustering: points at exactly eps") {
  if (!test::have_gpu()) return;
  Bench bench;
  // Each step of o - o - o is eps, up to the rounding of float64.
  for (const double step : {0.1, 1.0, 1e-4, 1.0 / 3}) {
    std::vector<double> line;
    std::vector<double> square;
    std::vector<double> cube;
    for (int i = 0; i < 300; ++i) {
      line.push_back(i * step);
      square.insert(square.end(), {i % 17 * step, i / 17 * step});
      cube.insert(cube.end(), {i % 7 * step, i / 7 % 7 * step, i / 49 * step});
    }
    for (const double eps : {step, std::nextafter(step, 0.0), step * std::sqrt(2.0), step * std::sqrt(3.0), 2 * step}) {
      check_oracle(bench, doubles(line, 1), eps, {1, 2, 3, 4});
      check_oracle(bench, doubles(square, 2), eps, {1, 2, 4, 5, 9});
      check_oracle(bench, doubles(cube, 3), eps, {1, 2, 6, 7, 19});
    }
    for (double& x : square) x += 1e6;
    check_oracle(bench, doubles(square, 2), step, {2, 3, 5});
  }
}

TEST_CASE("device clustering: dense cells at exactly eps, and one point too few") {
  if (!test::have_gpu()) return;
  Bench bench;
  // All points of a group are equal: ooo <- eps -> ooo.
  for (const std::size_t dims : {1U, 2U, 3U}) {
    for (const int size : {3, 60, 700}) {
      for (const double distance : {1.0, std::nextafter(1.0, 2.0)}) {
        std::vector<double> values;
        for (int i = 0; i < 2 * size; ++i) {
          for (std::size_t k = 0; k < dims; ++k) values.push_back(k == 0 && i >= size ? distance : 0.0);
        }
        const auto m = static_cast<std::uint32_t>(size);
        check_oracle(bench, doubles(values, dims), 1.0, {1, m, m + 1, 2 * m, 2 * m + 1});
      }
      // One cell is dense. The other, 0.9 away, has one point less than minpts.
      std::vector<double> values;
      for (int i = 0; i < 2 * size - 1; ++i) {
        for (std::size_t k = 0; k < dims; ++k) values.push_back(k == 0 && i >= size ? 0.9 : 0.01 * (i % 5));
      }
      const auto m = static_cast<std::uint32_t>(size);
      check_oracle(bench, doubles(values, dims), 1.0, {m, m + 1, 2 * m - 1, 2 * m});
      check_oracle(bench, doubles(values, dims), 0.88, {m, m - 1});
    }
  }
}

TEST_CASE("device clustering: a far outlier, tiny and huge radii, sparse keys") {
  if (!test::have_gpu()) return;
  Bench bench;
  for (const std::size_t dims : {1U, 2U, 3U}) {
    DataSet data = test::make_data("clustered", 500, dims, Precision::float64, dims);
    check_oracle(bench, data, 1e-160, {1, 2});
    check_oracle(bench, data, 1e-9, {1, 2});
    check_oracle(bench, data, 1e155, {2, 500, 501});
    for (const double far : {1e4, 1e8, 1e12, 1e300}) {
      data.doubles[0] = far;
      data.doubles[data.doubles.size() - 1] = -far;
      check_oracle(bench, data, 0.3, {1, 3, 8});
    }
  }
}

/// Returns two parallel lines of length 1 with `half` points each, in alternation, `gap` apart, at an angle to the
/// axes. Their bounds overlap or nearly overlap, and no pair across is closer than `gap`.
std::vector<double> facing_lines(std::uint32_t half, double gap, double angle, std::size_t dims) {
  std::vector<double> values;
  values.reserve(2 * std::size_t{half} * dims);
  Random random(5);
  for (std::uint32_t i = 0; i < 2 * half; ++i) {
    const double along = random.unit();
    const double across = i % 2 == 1 ? gap : 0.0;
    values.push_back(along * std::cos(angle) - across * std::sin(angle));
    values.push_back(along * std::sin(angle) + across * std::cos(angle));
    for (std::size_t k = 2; k < dims; ++k) values.push_back(0.0);
  }
  return values;
}

TEST_CASE("device clustering: huge cells that face each other are decided soon") {
  if (!test::have_gpu()) return;
  Bench bench;
  constexpr std::uint32_t kHalf = 200'000;
  for (const std::size_t dims : {2U, 3U}) {
    for (const bool touch : {false, true}) {
      INFO("dims " << dims << ", touch " << touch);
      std::vector<double> values = facing_lines(kHalf, 1.5, 0.5, dims);
      if (touch)
        values[(2 * std::size_t{kHalf} - 1) * dims + 1] = 0.2;  // the last lies between the lines, on the first's side
      const DataSet data = doubles(std::move(values), dims);
      const test::Watchdog watchdog("huge cells that face each other");
      // Cells are about as wide as the lines are long, so each line takes a few cells.
      const std::vector<Labelling> found = bench.cluster(data.view(), touch ? 1.4 : 1.4999, {100, 5});
      for (const Labelling& labelling : found) {
        for (std::uint32_t i = 0; i < 2 * kHalf; ++i) {
          const std::int32_t expected = touch ? 0 : static_cast<std::int32_t>(i % 2);
          if (labelling.labels[i] != expected) REQUIRE(labelling.labels[i] == expected);
        }
        REQUIRE(labelling.summary.clusters == (touch ? 1 : 2));
        REQUIRE(labelling.summary.core == 2 * kHalf);
        REQUIRE(labelling.summary.largest == (touch ? 2 : 1) * kHalf);
      }
    }
  }
}

TEST_CASE("device clustering: huge cells joined by one pair of points among all") {
  if (!test::have_gpu()) return;
  Bench bench;
  constexpr std::uint32_t kHalf = 50'000;
  std::vector<double> values = facing_lines(kHalf, 1.5, 0.0, 2);
  // ----o----
  //      |      one step of exactly eps
  // ----o----
  values[2 * 12'346] = 0.5;
  values[2 * 12'346 + 1] = 0.25;
  values[2 * 33'333] = 0.5;
  const DataSet data = doubles(std::move(values), 2);
  const std::vector<Labelling> joined = bench.cluster(data.view(), 1.25, {4});
  REQUIRE(joined[0].summary.clusters == 1);
  const std::vector<Labelling> apart = bench.cluster(data.view(), std::nextafter(1.25, 0.0), {4});
  REQUIRE(apart[0].summary.clusters == 2);
  REQUIRE(apart[0].summary.noise == 0);
}

/// Returns groups of points, a few radii wide, spread over a cube of side `width`.
DataSet far_groups(std::size_t dims, double width, Precision precision, std::uint64_t seed) {
  constexpr std::size_t kGroups = 12;
  constexpr std::size_t kPoints = 400;
  Random random(seed);
  std::vector<double> centres;
  for (std::size_t k = 0; k < kGroups * dims; ++k) centres.push_back(random.uniform(0, width));
  DataSet data;
  data.kind = "far groups";
  data.dims = dims;
  data.precision = precision;
  for (std::size_t i = 0; i < kPoints; ++i) {
    const std::size_t group = random.below(kGroups);
    for (std::size_t k = 0; k < dims; ++k) {
      // The first two points are corners of the cube.
      const double x = i < 2 ? (i == 0 ? 0.0 : width) : centres[group * dims + k] + 0.8 * random.bell();
      if (precision == Precision::float32) {
        data.floats.push_back(static_cast<float>(x));
      } else {
        data.doubles.push_back(x);
      }
    }
  }
  return data;
}

TEST_CASE("device clustering: cells found by a bitmap, by blocks of keys, and by a search") {
  if (!test::have_gpu()) return;
  Bench bench;
  constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();
  constexpr double kEps = 1;
  const std::vector<std::uint32_t> minpts{9, 5, 3, 1};
  struct Case {
    std::size_t dims;
    double width;
  };
  // In three dimensions, the last two cases have keys of 33 and 34 bits. Their bitmaps take 1.2 and 2.9 GB.
  for (const Case& c : {Case{1, 30}, Case{1, 1e6}, Case{2, 20}, Case{2, 4000}, Case{3, 15}, Case{3, 300}, Case{3, 970},
                        Case{3, 1300}}) {
    for (const Precision precision : {Precision::float32, Precision::float64}) {
      const DataSet data = far_groups(c.dims, c.width, precision, 17 * c.dims);
      const OracleTable table = data.oracle(kEps);
      const DevicePoints points(data.view(), 0, bench.memory(), bench.pinned(), 2);
      const index::CellAxes axes =
          index::choose_axes(points.host_for(kEps), kEps, Cells::dense_box, bench.cancel(), points.extents());
      REQUIRE(axes.dense_boxes);
      // Blocks have one key, a few keys, and up to all keys.
      for (const LookupLimits limits : {LookupLimits{kAll, 0}, LookupLimits{0, 1'000'000}, LookupLimits{0, 1000},
                                        LookupLimits{0, 4}, LookupLimits{0, 1}, LookupLimits{0, 0}}) {
        INFO(test::describe(data) << ", width " << c.width << ", keys " << index::CellKeys(axes).count << ", limits "
                                  << limits.keys_per_point << ", " << limits.blocks_per_point);
        {
          const DenseBoxGrid grid(points, kEps, axes, bench.memory(), bench.pinned(), bench.cancel(), nullptr, limits);
          REQUIRE((grid.view().words != nullptr) == (limits.keys_per_point > 0));
          REQUIRE((grid.view().block_starts != nullptr) == (limits.blocks_per_point > 0));
        }
        const DirectTask task{points,         kEps,           {minpts.front(), minpts.back()},
                              bench.memory(), bench.pinned(), bench.cancel()};
        DenseBoxClustering clustering(task, axes, limits);
        const std::vector<Labelling> found = bench.cluster(clustering, static_cast<std::uint32_t>(data.size()), minpts);
        for (std::size_t v = 0; v < minpts.size(); ++v) {
          INFO("minpts " << minpts[v]);
          const OracleLabels expected = test::oracle_labels(table, minpts[v]);
          REQUIRE(found[v].labels == expected.labels);
          REQUIRE(found[v].summary == expected.summary);
        }
      }
    }
  }
}

TEST_CASE("device clustering: points with more candidates than a thread is to test") {
  if (!test::have_gpu()) return;
  Bench bench;
  constexpr std::uint32_t kCrowd = 40'000;
  SECTION("about a crowd at one position: few of it are neighbours, or none") {
    // The crowd is at 0, except its last point, which is at 0.1. Some points of the ring are near that point only.
    constexpr std::uint32_t kRing = 300;
    for (const std::size_t dims : {2U, 3U}) {
      std::vector<double> values((kCrowd + kRing) * dims, 0.0);
      values[(kCrowd - 1) * dims] = 0.1;
      std::vector<std::uint8_t> near(kRing);
      for (std::uint32_t i = 0; i < kRing; ++i) {
        double* const point = &values[(kCrowd + i) * dims];
        const double angle = 6.2831853 * i / kRing;
        point[0] = 1.05 * std::cos(angle);
        point[1] = 1.05 * std::sin(angle);
        const double x = point[0] - 0.1;
        near[i] = x * x + point[1] * point[1] <= 1 ? 1 : 0;
      }
      const DataSet data = doubles(std::move(values), dims);
      // Only points of the crowd have that many neighbours: a point of the ring has at most the ring and one point of
      // the crowd.
      const std::vector<std::uint32_t> minpts{kCrowd, 30'000, kRing + 2};
      for (const auto& wanted : std::vector<std::vector<std::uint32_t>>{minpts, {minpts[1]}, {minpts[2]}}) {
        const std::vector<Labelling> found = bench.cluster(data.view(), 1.0, wanted);
        for (const Labelling& labelling : found) {
          std::uint64_t border = 0;
          for (std::uint32_t i = 0; i < kCrowd + kRing; ++i) {
            const bool in = i < kCrowd || near[i - kCrowd] != 0;
            border += i >= kCrowd && in ? 1 : 0;
            if (labelling.labels[i] != (in ? 0 : kNoise)) REQUIRE(labelling.labels[i] == (in ? 0 : kNoise));
            if (labelling.core[i] != (i < kCrowd ? 1 : 0)) REQUIRE(int{labelling.core[i]} == (i < kCrowd ? 1 : 0));
          }
          REQUIRE(border > 0);
          REQUIRE(border < kRing);
          REQUIRE(labelling.summary == LabelSummary{.clusters = 1,
                                                    .noise = kRing - border,
                                                    .core = kCrowd,
                                                    .border = border,
                                                    .largest = kCrowd + border});
        }
      }
    }
  }
  SECTION("crowds at steps just below eps: minpts above what two of them have") {
    for (const std::size_t dims : {1U, 2U, 3U}) {
      std::vector<double> values(3 * std::size_t{kCrowd} * dims, 0.0);
      for (std::uint32_t i = 0; i < 3 * kCrowd; ++i) values[i * dims] = 0.99 * (i % 3);
      const DataSet data = doubles(std::move(values), dims);
      const std::vector<std::uint32_t> minpts{3 * kCrowd + 1, 3 * kCrowd, 2 * kCrowd + 1, 2 * kCrowd};
      std::vector<Labelling> found = bench.cluster(data.view(), 1.0, minpts);
      for (const std::uint32_t m : minpts) found.push_back(bench.cluster(data.view(), 1.0, {m}).front());
      for (std::size_t v = 0; v < found.size(); ++v) {
        INFO("dims " << dims << ", variant " << v);
        const std::uint32_t m = minpts[v % minpts.size()];
        const std::uint64_t core = m > 3 * kCrowd ? 0 : m > 2 * kCrowd ? kCrowd : 3 * kCrowd;
        const std::uint64_t clusters = core > 0 ? 1 : 0;
        REQUIRE(found[v].summary == LabelSummary{.clusters = clusters,
                                                 .noise = clusters > 0 ? 0 : 3 * kCrowd,
                                                 .core = core,
                                                 .border = clusters * (3 * kCrowd - core),
                                                 .largest = clusters * 3 * kCrowd});
        for (std::uint32_t i = 0; i < 3 * kCrowd; ++i) {
          const std::int32_t expected = clusters > 0 ? 0 : kNoise;
          if (found[v].labels[i] != expected) REQUIRE(found[v].labels[i] == expected);
        }
      }
    }
  }
}

TEST_CASE("device clustering: the labels of the CPU on larger sets") {
  if (!test::have_gpu()) return;
  Bench bench;
  struct Case {
    const char* kind;
    std::size_t n;
    std::size_t dims;
    double eps;
  };
  for (const Case& c :
       {Case{"uniform", 200'000, 2, 0.5}, Case{"uniform", 200'000, 2, 3.0}, Case{"uniform", 150'000, 3, 0.8},
        Case{"clustered", 100'000, 2, 0.01}, Case{"clustered", 60'000, 3, 0.05}, Case{"clustered", 20'000, 3, 0.4},
        Case{"uniform", 100'000, 1, 0.1}, Case{"uniform", 50'000, 4, 0.9}, Case{"log-uniform", 50'000, 2, 1.0},
        Case{"clustered", 30'000, 5, 0.3}}) {
    for (const Precision precision : {Precision::float32, Precision::float64}) {
      const DataSet data = test::make_data(c.kind, c.n, c.dims, precision, 11);
      INFO(test::describe(data) << ", eps " << c.eps);
      const std::vector<std::uint32_t> minpts{200, 30, 8, 4, 2};
      const std::vector<Labelling> found = bench.cluster(data.view(), c.eps, minpts);
      for (std::size_t v = 0; v < minpts.size(); ++v) {
        INFO("minpts " << minpts[v]);
        const auto expected =
            run(data.view(), grid({c.eps}, {minpts[v]}), EngineOptions{.backend = BackendChoice::cpu});
        REQUIRE(found[v].summary == expected.front().summary);
        REQUIRE((found[v].labels == expected.front().labels));
        const std::vector<Labelling> alone = bench.cluster(data.view(), c.eps, {minpts[v]});
        REQUIRE((alone[0].labels == expected.front().labels));
      }
    }
  }
}

TEST_CASE("device clustering: more cells than are counted in advance") {
  if (!test::have_gpu()) return;
  Bench bench;
  const std::uint32_t n = tuning::kCountedNodes + 1'000'000;
  std::vector<double> pairs(n);  // pairs of points at exactly eps in separate cells, from the last to the first
  for (std::uint32_t i = 0; i < n; ++i) pairs[n - 1 - i] = 3.0 * (i / 2) + i % 2;
  const std::vector<Labelling> found = bench.cluster(PointsView(std::span<const double>(pairs), 1), 1, {3, 2});
  REQUIRE(found[0].summary.noise == n);
  REQUIRE(found[0].summary.clusters == 0);
  REQUIRE(found[1].summary.clusters == n / 2);
  REQUIRE(found[1].summary.largest == 2);
  std::vector<std::int32_t> expected(n);
  for (std::uint32_t i = 0; i < n; ++i) expected[i] = static_cast<std::int32_t>(i / 2);
  REQUIRE((found[1].labels == expected));
}

TEST_CASE("device clustering: clusters that end within a block of threads") {
  if (!test::have_gpu()) return;
  Bench bench;
  // Chains of 100, 99, … 1 points follow each other, with one point per cell.
  std::vector<double> chains;
  for (unsigned length = 100; length > 0; --length) {
    const double first = chains.empty() ? 0 : chains.back() + 5;
    for (unsigned i = 0; i < length; ++i) chains.push_back(first + i);
  }
  const std::vector<Labelling> found = bench.cluster(PointsView(std::span<const double>(chains), 1), 1, {2, 1});
  CHECK(found[0].summary.clusters == 99);
  CHECK(found[0].summary.noise == 1);
  CHECK(found[0].summary.largest == 100);
  CHECK(found[1].summary.clusters == 100);
  CHECK(found[1].summary.largest == 100);
}

TEST_CASE("device clustering: points that are on the device already") {
  if (!test::have_gpu()) return;
  Bench bench;
  for (const char* kind : {"clustered", "outlier 1e300"}) {
    for (const std::size_t dims : {2U, 7U}) {
      const DataSet data = test::make_data(kind, 300, dims, Precision::float64, 3);
      const Stream stream;
      const DeviceBuffer<double> values(bench.memory(), stream.get(), data.doubles.size());
      check(cudaMemcpyAsync(values.data(), data.doubles.data(), values.bytes(), cudaMemcpyHostToDevice, stream.get()));
      stream.synchronize();
      const DevicePoints points(DevicePointsView(values.data(), 300, dims), bench.memory());
      const auto found = bench.cluster(points, data.scale, {4});
      REQUIRE(found[0].labels == test::oracle_labels(data.oracle(data.scale), 4).labels);
    }
  }
}

TEST_CASE("device clustering: the same variant again") {
  if (!test::have_gpu()) return;
  Bench bench;
  for (const std::size_t dims : {2U, 4U}) {
    const DataSet data = test::make_data("clustered", 300, dims, Precision::float64, 9);
    for (const std::vector<std::uint32_t>& minpts : {std::vector<std::uint32_t>{4, 4}, {6, 6, 4, 4}}) {
      const std::vector<Labelling> found = bench.cluster(data.view(), data.scale, minpts);
      for (std::size_t v = 0; v < minpts.size(); ++v) {
        const OracleLabels expected = test::oracle_labels(data.oracle(data.scale), minpts[v]);
        REQUIRE(found[v].labels == expected.labels);
        REQUIRE(found[v].summary == expected.summary);
      }
    }
  }
}

TEST_CASE("device clustering: a cancelled run ends, and memory that is short is said") {
  if (!test::have_gpu()) return;
  const DataSet data = test::make_data("uniform", 10'000, 2, Precision::float64, 1);
  PinnedPool pinned;
  CancelToken cancel;
  DeviceMemory small(0, 400'000);
  const DevicePoints points(data.view(), 0, small, pinned, 2);
  REQUIRE_THROWS_AS(make_device_clustering({points, 0.5, {4, 4}, small, pinned, cancel}), DeviceOutOfMemory);
  DeviceMemory memory(0, 1ULL << 30);
  const auto clustering = make_device_clustering({points, 0.5, {4, 4}, memory, pinned, cancel});
  cancel.cancel();
  REQUIRE_THROWS_AS(clustering->unite(4), Cancelled);
  REQUIRE_THROWS_AS(make_device_clustering({points, 0.5, {4, 4}, memory, pinned, cancel}), Cancelled);
}

}  // namespace
}  // namespace epsflow::gpu
