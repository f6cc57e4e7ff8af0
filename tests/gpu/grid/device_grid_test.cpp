// The grid of the GPU must equal the grid of the host: the same order, cells and ranges.
#include <epsflow/gpu/grid/device_grid.hpp>

#include <cstdint>
#include <vector>

#include "support/catch.hpp"
#include "support/gpu.hpp"
#include "support/random_points.hpp"

#include <epsflow/index/candidate_ranges.hpp>
#include <epsflow/index/grid.hpp>

namespace epsflow::gpu {
namespace {

using test::DataSet;
using test::Random;

template <class T>
std::vector<T> to_vector(std::span<const T> values) {
  return {values.begin(), values.end()};
}

template <class T>
std::vector<T> download(const T* from, std::size_t count) {
  std::vector<T> values(count);
  if (count > 0) check(cudaMemcpy(values.data(), from, count * sizeof(T), cudaMemcpyDeviceToHost));
  return values;
}

struct Both {
  Both(const DataSet& data, double eps, const Space& space)
      : host(data.view(), eps, Cells::eps, cancel, space),
        points(data.view(), 0, memory, pinned, 2, space),
        device(points, eps, memory, pinned, cancel) {}

  CancelToken cancel;
  DeviceMemory memory{0, 1ULL << 30};
  PinnedPool pinned;
  index::Grid host;
  DevicePoints points;
  DeviceGrid device;
};

void check_same(const DataSet& data, double eps, const Space& space = {}) {
  const Both grids(data, eps, space);
  const auto n = static_cast<std::uint32_t>(data.size());
  REQUIRE(grids.device.size() == n);
  REQUIRE(to_vector(grids.device.order()) == to_vector(grids.host.order()));
  const PackedLayout layout = grids.device.read_layout();
  if (n == 0) {
    REQUIRE(layout.bundles.size() == 0);
    return;
  }
  REQUIRE(grids.device.read_cell_keys() == to_vector(grids.host.cell_keys()));
  const PackedLayout expected = index::make_packed_layout(grids.host);
  REQUIRE(to_vector(layout.bundles.starts.span()) == to_vector(expected.bundles.starts.span()));
  REQUIRE(to_vector(layout.bundles.range_offsets.span()) == to_vector(expected.bundles.range_offsets.span()));
  REQUIRE(to_vector(layout.first_words.span()) == to_vector(expected.first_words.span()));
  REQUIRE(to_vector(layout.bundles.ranges.span()) == to_vector(expected.bundles.ranges.span()));
  REQUIRE(grids.device.packed_words() == expected.words());
  const GridView& view = grids.device.view();
  const std::vector<std::uint32_t> cell_of = download(view.cell_of, n);
  for (std::uint32_t p = 0; p < n; ++p) REQUIRE(cell_of[p] == grids.host.cell_of(p));
  for (std::size_t k = 0; k < data.dims; ++k) {
    if (data.precision == Precision::float32) {
      const auto values = download(static_cast<const float*>(view.coordinates) + k * n, n);
      for (std::uint32_t p = 0; p < n; ++p) REQUIRE(values[p] == grids.host.coordinates<float>(k)[p]);
    } else {
      const auto values = download(static_cast<const double*>(view.coordinates) + k * n, n);
      for (std::uint32_t p = 0; p < n; ++p) REQUIRE(values[p] == grids.host.coordinates<double>(k)[p]);
    }
  }
}

TEST_CASE("device grid: equal to the host's on data of every kind") {
  if (!test::have_gpu()) return;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    INFO("seed " << seed);
    const DataSet data = test::random_data(seed, 300);
    Random random(seed);
    check_same(data, test::make_eps(data, random));
  }
}

TEST_CASE("device grid: equal to the host's in one to eight dimensions and many cells") {
  if (!test::have_gpu()) return;
  for (std::size_t dims = 1; dims <= 8; ++dims) {
    for (const Precision precision : {Precision::float32, Precision::float64}) {
      for (const std::string kind : {"uniform", "clustered", "outlier 1e300", "quantised"}) {
        if (precision == Precision::float32 && kind == "outlier 1e300") continue;
        INFO(dims << "-D, " << kind);
        const DataSet data = test::make_data(kind, 5000, dims, precision, dims);
        check_same(data, data.scale);
        check_same(data, data.scale / 7);
      }
    }
  }
}

TEST_CASE("device grid: equal to the host's where axes close") {
  if (!test::have_gpu()) return;
  for (std::size_t dims = 1; dims <= 8; ++dims) {
    const DataSet data = test::make_data("clustered", 5000, dims, Precision::float64, dims);
    Space space;
    for (std::size_t k = 0; k < dims; ++k) {
      const index::Extent extent = index::extent_of(data.view(), k);
      const bool closed = k % 3 != 1;
      space.axes.push_back({extent.lo, closed ? extent.hi - extent.lo : 0});
    }
    for (const double eps : {data.scale, data.scale / 7, 20 * data.scale}) {
      INFO(dims << "-D, eps " << eps);
      check_same(data, eps, space);
    }
  }
}

TEST_CASE("device grid: a cancelled build says so") {
  if (!test::have_gpu()) return;
  const DataSet data = test::make_data("uniform", 100, 2, Precision::float64, 1);
  DeviceMemory memory(0, 1ULL << 28);
  PinnedPool pinned;
  const DevicePoints points(data.view(), 0, memory, pinned, 2);
  CancelToken cancel;
  cancel.cancel();
  CHECK_THROWS_AS(DeviceGrid(points, 1, memory, pinned, cancel), Cancelled);
}

TEST_CASE("device grid: too little memory is an error that names bytes and remedy, and leaves nothing behind") {
  if (!test::have_gpu()) return;
  const DataSet data = test::make_data("uniform", 100'000, 2, Precision::float64, 1);
  DeviceMemory memory(0, 3 << 20);
  PinnedPool pinned;
  const DevicePoints points(data.view(), 0, memory, pinned, 2);
  const std::uint64_t used = memory.used();
  try {
    const DeviceGrid grid(points, 1, memory, pinned, CancelToken());
    FAIL("it fits");
  } catch (const DeviceOutOfMemory& error) {
    CHECK(std::string(error.what()).find("EngineOptions::gpu_memory") != std::string::npos);
  }
  CHECK(memory.used() == used);
}

}  // namespace
}  // namespace epsflow::gpu
