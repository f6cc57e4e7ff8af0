// Tests the lists of a search by tiles if memory is short, if lists grow, and if the search ends early.
#include <epsflow/gpu/tiles/tile_search.hpp>

#include <cstdint>
#include <memory>
#include <vector>

#include "gpu/tile_pairs.hpp"
#include "support/catch.hpp"
#include "support/gpu.hpp"
#include "support/random_points.hpp"

#include <epsflow/core/error.hpp>

namespace epsflow::gpu {
namespace {

TEST_CASE("tile search: where memory is short the lists together hold each pair once, in every pass") {
  if (!test::have_gpu()) return;
  Random random(1);
  std::vector<double> values(4500 * 9);
  for (double& x : values) x = random.uniform(-1, 1);
  // Half precision cannot separate these pairs, so they fill the list of undecided pairs.
  std::vector<double> crowd(3300 * 9);
  for (double& x : crowd) x = 1e-7 * random.unit();
  crowd.front() = 1;
  const DataSet uniform = by_hand("uniform", values, 9, Precision::float64);
  const DataSet open = by_hand("a crowd and a far one", crowd, 9, Precision::float32);
  for (const DataSet* data : {&uniform, &open}) {
    Device device(56 << 20);
    const double eps = test::eps_of_share(*data, 0.7);
    INFO(test::describe(*data) << ", eps " << eps);
    const PairTimes expected = expected_pairs(*data, eps);
    REQUIRE(count_pairs(expected) > (5 << 19));  // more than a list holds: a third of the memory, or 2^21
    const DevicePoints points(data->view(), 0, device.memory, device.pinned, 2);
    for (const auto kind : kKinds) {
      const auto tiles =
          std::make_shared<const DeviceTileOrder>(points, eps, kind, device.memory, device.pinned, device.cancel);
      for (const Filter& filter : kFilters) {
        INFO(name_of(kind) << ", " << filter.name);
        TileSearch search(points, tiles, {.eps = eps, .decide = filter.decide, .portable = filter.portable},
                          device.memory, device.cancel);
        PairTimes found;
        for (int times = 0; times < 2; ++times) {
          REQUIRE(collect_lists(search, found) > 1);
          require_same(found, expected, data->size());
          REQUIRE_FALSE(search.cached());
        }
      }
    }
  }
}

TEST_CASE("tile search: a cached list grows from what it had room for at first") {
  if (!test::have_gpu()) return;
  Device device(2ULL << 30);
  const DataSet data = test::make_data("clustered", 3000, 7, Precision::float32, 2);
  const double all = 1e3;  // 4.5 million pairs, twice the initial room of a list
  check_case(device, data, all);
  const DevicePoints points(data.view(), 0, device.memory, device.pinned, 2);
  const auto tiles = std::make_shared<const DeviceTileOrder>(points, all, IndexChoice::tree, device.memory,
                                                             device.pinned, device.cancel);
  for (const Filter& filter : kFilters) {
    INFO(filter.name);
    TileSearch search(points, tiles, {.eps = all, .decide = filter.decide, .portable = filter.portable}, device.memory,
                      device.cancel);
    PairTimes found;
    CHECK(collect_lists(search, found) == 1);
    CHECK(search.cached());
    CHECK(count_pairs(found) == std::size_t{3000} * 2999 / 2);
  }
}

TEST_CASE("tile search: a cancelled search says so, and gives back what it held") {
  if (!test::have_gpu()) return;
  Device device;
  const DataSet data = test::make_data("uniform", 1000, 9, Precision::float64, 1);
  const DevicePoints points(data.view(), 0, device.memory, device.pinned, 2);
  for (const Filter& filter : kFilters) {
    INFO(filter.name);
    CancelToken cancel;
    const auto tiles = std::make_shared<const DeviceTileOrder>(points, 1, IndexChoice::tree, device.memory,
                                                               device.pinned, device.cancel);
    const std::uint64_t used = device.memory.used();
    {
      TileSearch search(points, tiles, {.eps = 1, .decide = filter.decide, .portable = filter.portable}, device.memory,
                        cancel);
      cancel.cancel();
      bool visited = false;
      CHECK_THROWS_AS(search.for_each_list([&](PairsOnDevice) { visited = true; }), Cancelled);
      CHECK_FALSE(visited);
    }
    CHECK(device.memory.used() == used);
  }
}

TEST_CASE("tile search: memory that is too short for a list is said") {
  if (!test::have_gpu()) return;
  Device device(8 << 20);
  const DataSet data = test::make_data("uniform", 1000, 9, Precision::float64, 1);
  const DevicePoints points(data.view(), 0, device.memory, device.pinned, 2);
  const auto tiles = std::make_shared<const DeviceTileOrder>(points, 1, IndexChoice::tree, device.memory, device.pinned,
                                                             device.cancel);
  TileSearch search(points, tiles, {.eps = 1, .decide = DecideChoice::tensor16}, device.memory, device.cancel);
  CHECK_THROWS_AS(search.for_each_list([](PairsOnDevice) {}), DeviceOutOfMemory);
}

}  // namespace
}  // namespace epsflow::gpu
