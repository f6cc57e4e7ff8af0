#include <epsflow/gpu/nearest/device_nearest.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/gpu.hpp"
#include "support/random_points.hpp"

#include <epsflow/core/space.hpp>
#include <epsflow/gpu/base/memory.hpp>
#include <epsflow/index/nearest.hpp>
#include <epsflow/pipeline/engine.hpp>
#include <epsflow/pipeline/k_distance.hpp>

namespace epsflow::gpu {
namespace {

using test::DataSet;
using test::Random;
using Ks = std::vector<std::uint32_t>;

std::vector<double> on_cpu(const DataSet& data, const Ks& ks) {
  std::vector<double> sums(data.size() * ks.size());
  index::nearest_sums(data.view(), {}, ks, sums.data(), {});
  return sums;
}

struct Gpu {
  DeviceMemory memory{0, 0};
  PinnedPool pinned;

  /// Returns nothing if the device does not support these k.
  [[nodiscard]] std::vector<double> find(const DataSet& data, const Ks& ks) {
    const DevicePoints points(data.view(), 0, memory, pinned, 2);
    if (!serves_nearest(points, ks)) return {};
    const Stream stream;
    const DeviceBuffer<double> found(memory, stream.get(), data.size() * ks.size());
    const StreamDrain drain(stream);
    check(cudaMemsetAsync(found.data(), 0xFF, found.bytes(), stream.get()));  // NaN makes unwritten values visible
    if (!find_nearest(points, ks, NearestForm::sums, found.data(), memory, stream)) return {};
    return read_values(found.data(), found.size(), stream.get());
  }
};

TEST_CASE("gpu nearest: sums are the CPU's on data of every kind") {
  if (!test::have_gpu()) return;
  Gpu gpu;
  std::size_t found_on_gpu = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    Random random(seed);
    const std::size_t n = random.pick<std::size_t>({2, 3, 31, 33, 64, 65, 257, 600, 3000, 9000});
    const DataSet data = test::make_data(random.pick(test::data_kinds()), n, 1 + random.below(3),
                                         random.chance(0.4) ? Precision::float32 : Precision::float64, seed);
    Ks ks;
    const std::uint64_t most = std::min<std::uint64_t>(n - 1, random.pick<std::uint64_t>({1, 4, 8, 16, 32}));
    for (std::uint64_t i = 0; i <= random.below(3); ++i)
      ks.push_back(static_cast<std::uint32_t>(1 + random.below(most)));
    INFO("seed " << seed << ", " << test::describe(data) << ", k " << ks.front());
    const std::vector<double> found = gpu.find(data, ks);
    if (found.empty()) continue;
    ++found_on_gpu;
    REQUIRE(found == on_cpu(data, ks));
  }
  REQUIRE(found_on_gpu > 250);
}

TEST_CASE("gpu nearest: many points, whose boxes have several levels") {
  if (!test::have_gpu()) return;
  Gpu gpu;
  for (const std::string kind : {"uniform", "clustered", "quantised", "duplicates", "log-uniform"}) {
    for (const std::size_t dims : {1U, 2U, 3U}) {
      const DataSet data =
          test::make_data(kind, 300'000, dims, dims == 2 ? Precision::float32 : Precision::float64, dims);
      INFO(test::describe(data));
      const std::vector<double> found = gpu.find(data, {4, 9});
      REQUIRE(!found.empty());
      REQUIRE(found == on_cpu(data, {4, 9}));
    }
  }
}

TEST_CASE("gpu nearest: points that are so close that sums underflow") {
  if (!test::have_gpu()) return;
  std::vector<double> values;
  for (int i = 0; i < 200; ++i) values.push_back(i < 100 ? i * 1e-200 : i);
  const PointsView points(std::span<const double>(values), 1);
  const Dataset on_gpu = Engine({.backend = BackendChoice::gpu}).load(points);
  const Dataset on_cpu = Engine({.backend = BackendChoice::cpu}).load(points);
  for (const std::uint32_t k : {1U, 4U, 31U}) REQUIRE(k_distances(on_gpu, k) == k_distances(on_cpu, k));
}

TEST_CASE("gpu nearest: what a device does not serve is the CPU's, with the same distances") {
  if (!test::have_gpu()) return;
  const Engine gpu({.backend = BackendChoice::gpu});
  const Engine cpu({.backend = BackendChoice::cpu});
  const DataSet many = test::make_data("outlier 1e300", 200'000, 2, Precision::float64, 5);
  const DataSet high = test::make_data("clustered", 700, 9, Precision::float32, 6);
  const DataSet few = test::make_data("uniform", 500, 3, Precision::float64, 7);
  REQUIRE(k_distances(gpu.load(many.view()), 4) == k_distances(cpu.load(many.view()), 4));
  REQUIRE(k_distances(gpu.load(high.view()), 4) == k_distances(cpu.load(high.view()), 4));
  REQUIRE(k_distances(gpu.load(few.view()), 200) == k_distances(cpu.load(few.view()), 200));
  const Metric manhattan{.kind = MetricKind::manhattan};
  REQUIRE(k_distances(gpu.load(few.view(), manhattan), 4) == k_distances(cpu.load(few.view(), manhattan), 4));
}

}  // namespace
}  // namespace epsflow::gpu
