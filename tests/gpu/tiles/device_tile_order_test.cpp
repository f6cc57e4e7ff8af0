// The order of the GPU must equal the order of the host: the same positions, intervals and blocks.
#include <epsflow/gpu/tiles/device_tile_order.hpp>

#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

#include "support/catch.hpp"
#include "support/gpu.hpp"
#include "support/random_points.hpp"

#include <epsflow/index/tile_bounds.hpp>

namespace epsflow::gpu {
namespace {

using index::LayerKind;
using index::TileBlock;
using test::DataSet;
using test::Random;

struct Device {
  DeviceMemory memory{0, 1ULL << 30};
  PinnedPool pinned;
  CancelToken cancel;
};

template <class T>
std::vector<T> download(const T* from, std::size_t count) {
  std::vector<T> values(count);
  if (count > 0) check(cudaMemcpy(values.data(), from, count * sizeof(T), cudaMemcpyDeviceToHost));
  return values;
}

void check_list(const DeviceTileOrder& order, const std::vector<TileBlock>& expected) {
  REQUIRE(order.block_count() == expected.size());
  REQUIRE(order.tile_pairs() == index::count_tile_pairs(expected));
  REQUIRE(download(order.blocks(), order.block_count()) == expected);
}

void check_order(const DeviceTileOrder& order, std::span<const std::uint32_t> expected) {
  REQUIRE(order.size() == expected.size());
  REQUIRE(std::equal(expected.begin(), expected.end(), order.host_order().begin()));
  REQUIRE(download(order.order(), order.size()) == std::vector<std::uint32_t>(expected.begin(), expected.end()));
}

void check_same(Device& device, const DataSet& data, double eps) {
  const DevicePoints points(data.view(), 0, device.memory, device.pinned, 2);
  for (const LayerKind kind : {LayerKind::grid, LayerKind::tree}) {
    const index::PivotOrder host(data.view(), eps, kind, device.cancel);
    const index::TileBounds bounds(data.view(), host.order(), host.layers(), device.cancel);
    const IndexChoice choice = kind == LayerKind::grid ? IndexChoice::grid : IndexChoice::tree;
    const DeviceTileOrder order(points, eps, choice, device.memory, device.pinned, device.cancel);
    check_order(order, host.order());
    const std::vector<index::LayerInterval> intervals = order.read_tile_intervals();
    REQUIRE(intervals.size() == std::size_t{bounds.functions()} * bounds.tiles());
    for (std::uint32_t f = 0; f < bounds.functions(); ++f) {
      for (std::uint32_t tile = 0; tile < bounds.tiles(); ++tile) {
        const index::LayerInterval& here = intervals[std::size_t{f} * bounds.tiles() + tile];
        REQUIRE(here.lo == bounds.of_tiles(f)[tile].lo);
        REQUIRE(here.hi == bounds.of_tiles(f)[tile].hi);
      }
    }
    check_list(order, index::list_tile_blocks(bounds, device.cancel));
  }
}

TEST_CASE("device tile order: equal to the host's on data of every kind") {
  if (!test::have_gpu()) return;
  Device device;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    const DataSet data = test::random_data(seed, 1500);
    Random random(seed);
    const double eps = test::make_eps(data, random);
    INFO("seed " << seed << ", " << test::describe(data) << ", eps " << eps);
    check_same(device, data, eps);
  }
}

TEST_CASE("device tile order: equal to the host's in many dimensions, with many tiles") {
  if (!test::have_gpu()) return;
  Device device;
  for (const std::size_t dims : {1, 2, 7, 9, 16, 17, 65, 300}) {
    for (const Precision precision : {Precision::float32, Precision::float64}) {
      for (const std::string kind : {"uniform", "clustered", "all equal", "outlier 1e300", "quantised"}) {
        INFO(dims << "-D, " << kind);
        const DataSet data = test::make_data(kind, dims > 20 ? 5000 : 60'000, dims, precision, dims);
        check_same(device, data, data.scale);
        check_same(device, data, data.scale / 7);
      }
    }
  }
}

TEST_CASE("device tile order: without a kind all pairs of tiles in the order of the ids") {
  if (!test::have_gpu()) return;
  Device device;
  for (const std::size_t n : {0, 1, 127, 128, 129, 1024, 1025, 70'000}) {
    INFO("n " << n);
    const DataSet data = test::make_data("uniform", n, 2, Precision::float32, 1);
    const DevicePoints points(data.view(), 0, device.memory, device.pinned, 2);
    const DeviceTileOrder order(points, 1, IndexChoice::all, device.memory, device.pinned, device.cancel);
    std::vector<std::uint32_t> ids(n);
    std::iota(ids.begin(), ids.end(), 0);
    check_order(order, ids);
    check_list(order, index::list_all_tile_blocks(n, device.cancel));
  }
}

TEST_CASE("device tile order: a sample chooses what prunes, and makes the same order") {
  if (!test::have_gpu()) return;
  Device device;
  // Coordinates are 0 or 1, with a different share of ones in each point, so only distances separate the points.
  DataSet binary = test::make_data("uniform", 4000, 64, Precision::float64, 5);
  for (std::size_t i = 0; i < binary.size(); ++i) {
    const double share = binary.doubles[64 * i];
    for (std::size_t k = 0; k < 64; ++k) {
      binary.doubles[64 * i + k] = binary.doubles[64 * i + k] < share ? 1 : 0;
    }
  }
  struct Case {
    DataSet data;
    double eps;
    IndexChoice expected;
  };
  const DataSet nine = test::make_data("uniform", 4000, 9, Precision::float64, 3);
  const Case cases[] = {{nine, nine.scale / 20, IndexChoice::grid},
                        {binary, 1, IndexChoice::tree},
                        {nine, nine.scale * 100, IndexChoice::all}};
  for (const Case& c : cases) {
    INFO("expected " << static_cast<int>(c.expected));
    const DevicePoints points(c.data.view(), 0, device.memory, device.pinned, 2);
    const DeviceTileOrder order(points, c.eps, IndexChoice::automatic, device.memory, device.pinned, device.cancel);
    REQUIRE(order.kind() == c.expected);
    const DeviceTileOrder named(points, c.eps, c.expected, device.memory, device.pinned, device.cancel);
    check_order(order, named.host_order());
    check_list(order, download(named.blocks(), named.block_count()));
  }
}

TEST_CASE("device tile order: a cancelled build says so, and leaves nothing behind") {
  if (!test::have_gpu()) return;
  Device device;
  const DataSet data = test::make_data("uniform", 1000, 9, Precision::float64, 1);
  const DevicePoints points(data.view(), 0, device.memory, device.pinned, 2);
  const std::uint64_t used = device.memory.used();
  device.cancel.cancel();
  CHECK_THROWS_AS(DeviceTileOrder(points, 1, IndexChoice::tree, device.memory, device.pinned, device.cancel),
                  Cancelled);
  CHECK(device.memory.used() == used);
}

}  // namespace
}  // namespace epsflow::gpu
