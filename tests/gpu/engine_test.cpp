// Tests points that are already on the GPU, labels that stay there, and data sets that are uploaded once.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/gpu.hpp"
#include "support/oracle.hpp"
#include "support/random_points.hpp"

#include <epsflow/core/error.hpp>
#include <epsflow/gpu/base/device.hpp>
#include <epsflow/gpu/base/error.hpp>
#include <epsflow/gpu/base/memory.hpp>
#include <epsflow/gpu/base/stream.hpp>
#include <epsflow/gpu/base/upload.hpp>
#include <epsflow/pipeline/engine.hpp>
#include <epsflow/pipeline/job.hpp>
#include <epsflow/pipeline/neighbors.hpp>
#include <epsflow/pipeline/sweep.hpp>

namespace epsflow::gpu {
namespace {

using test::DataSet;
using test::OracleLabels;

template <class T>
std::vector<T> on_host(const DeviceArray<T>& array) {
  std::vector<T> values(array.size());
  check(cudaMemcpy(values.data(), array.data(), array.size() * sizeof(T), cudaMemcpyDeviceToHost));
  return values;
}

/// A copy of a data set in device memory. The first coordinate is `shift` bytes after an aligned address.
class DeviceCopy {
 public:
  explicit DeviceCopy(const DataSet& data, std::size_t shift = 0) : data_(data), shift_(shift) {
    const PointsView view = data.view();
    check(cudaMalloc(&memory_, view.bytes() + shift + 1));
    check(cudaMemcpyAsync(address(), view.data(), view.bytes(), cudaMemcpyHostToDevice, stream_.get()));
  }
  DeviceCopy(const DeviceCopy&) = delete;
  DeviceCopy& operator=(const DeviceCopy&) = delete;
  ~DeviceCopy() {
    (void)cudaStreamSynchronize(stream_.get());
    (void)cudaFree(memory_);
  }

  [[nodiscard]] DevicePointsView view() const {
    const std::size_t n = data_.size();
    if (data_.precision == Precision::float32) {
      return {reinterpret_cast<const float*>(address()), n, data_.dims, {.stream = stream_.get()}};
    }
    return {reinterpret_cast<const double*>(address()), n, data_.dims, {.stream = stream_.get()}};
  }

 private:
  [[nodiscard]] std::byte* address() const { return static_cast<std::byte*>(memory_) + shift_; }

  const DataSet& data_;
  std::size_t shift_;
  void* memory_ = nullptr;
  Stream stream_;
};

void check_results(const std::vector<VariantResult>& results, const DataSet& data) {
  for (const VariantResult& result : results) {
    const OracleLabels expected = test::oracle_labels(data.oracle(result.variant.eps), result.variant.minpts);
    REQUIRE(result.summary == expected.summary);
    REQUIRE(result.labels == expected.labels);
  }
}

TEST_CASE("gpu engine: points on the device, labels on either side, as the oracle says") {
  if (!test::have_gpu()) return;
  const Engine engine({.threads = 2, .backend = BackendChoice::gpu, .gpu = 0});
  for (const char* kind : {"clustered", "outlier 1e300"}) {
    for (const std::size_t dims : {1U, 2U, 3U, 4U, 7U}) {
      for (const Precision precision : {Precision::float32, Precision::float64}) {
        for (const std::size_t shift : {0U, 4U, 8U, 16U}) {
          INFO(kind << ", d " << dims << ", shift " << shift);
          const DataSet data = test::make_data(kind, 300, dims, precision, 3 + dims);
          const DeviceCopy copy(data, shift);
          const Dataset loaded = engine.load(copy.view());
          REQUIRE(loaded.size() == 300);
          const Sweep sweep = grid({data.scale, data.scale * 0.5}, {4, 2});
          check_results(run(loaded, sweep), data);
          if (shift == 0) {
            check_results(run(loaded, sweep, {.strategy = StrategyChoice::table, .verify = true}), data);
            const Neighbors found = neighbors(loaded, data.scale, Distances::include);
            const Neighbors expected =
                neighbors(data.view(), data.scale, Distances::include, {.backend = BackendChoice::cpu});
            REQUIRE(std::ranges::equal(found.ids.span(), expected.ids.span()));
            REQUIRE(std::ranges::equal(found.distances.span(), expected.distances.span()));
          }
          const auto retained = run(loaded, sweep, {.core_mask = true, .labels = MemorySpace::device});
          REQUIRE(retained.size() == 4);
          for (const VariantResult& result : retained) {
            const auto table = data.oracle(result.variant.eps);
            const OracleLabels expected = test::oracle_labels(table, result.variant.minpts);
            REQUIRE(result.labels.empty());
            REQUIRE(result.core.empty());
            REQUIRE(result.device_labels.size() == 300);
            REQUIRE(result.device_labels.device() == 0);
            REQUIRE(on_host(result.device_labels) == expected.labels);
            REQUIRE(result.summary == expected.summary);
            const std::vector<std::uint8_t> core = on_host(result.device_core);
            REQUIRE(core.size() == 300);
            for (std::size_t i = 0; i < core.size(); ++i) {
              REQUIRE(core[i] == (table.rows[i].size() >= result.variant.minpts ? 1 : 0));
            }
          }
        }
      }
    }
  }
}

TEST_CASE("gpu engine: labels stay on the device even where a table would be sooner") {
  if (!test::have_gpu()) return;
  const DataSet data = test::make_data("clustered", 700, 4, Precision::float64, 5);
  const Engine engine({.backend = BackendChoice::gpu, .gpu = 0});
  const Dataset loaded = engine.load(data.view());
  const Sweep sweep = grid({data.scale}, {20, 12, 8, 5, 4, 3, 2});
  for (const VariantResult& result : run(loaded, sweep, {.labels = MemorySpace::device})) {
    const OracleLabels expected = test::oracle_labels(data.oracle(result.variant.eps), result.variant.minpts);
    REQUIRE(on_host(result.device_labels) == expected.labels);
  }
}

TEST_CASE("gpu engine: labels outlive what made them, and no points at all have none") {
  if (!test::have_gpu()) return;
  const DataSet data = test::make_data("clustered", 500, 2, Precision::float64, 5);
  std::vector<VariantResult> retained;
  std::vector<VariantResult> copied;
  {
    const Engine engine({.backend = BackendChoice::gpu, .gpu = 0});
    const Dataset loaded = engine.load(data.view());
    retained = run(loaded, grid({data.scale}, {4}), {.labels = MemorySpace::device});
    copied = run(loaded, grid({data.scale}, {4}));
    const std::vector<double> nothing;
    const auto none = run(engine.load(PointsView{nothing, 2}), grid({1}, {4}));
    REQUIRE(none.size() == 1);
    CHECK(none.front().device_labels.empty());
    CHECK(run(engine.load(DevicePointsView(static_cast<const double*>(nullptr), 0, 2)), grid({1}, {4})).size() == 1);
  }
  const OracleLabels expected = test::oracle_labels(data.oracle(data.scale), 4);
  CHECK(on_host(retained.front().device_labels) == expected.labels);
  CHECK(copied.front().labels == expected.labels);
}

TEST_CASE("gpu engine: coordinates that are not finite, and points on another GPU, are named") {
  if (!test::have_gpu()) return;
  const Engine engine({.backend = BackendChoice::gpu, .gpu = 0});
  for (const Precision precision : {Precision::float32, Precision::float64}) {
    DataSet data = test::make_data("uniform", 20'000, 3, precision, 1);
    const auto spoil = [&](std::size_t i, double value) {
      if (precision == Precision::float32) {
        data.floats[i] = static_cast<float>(value);
      } else {
        data.doubles[i] = value;
      }
    };
    spoil(3 * 19'000 + 1, std::numeric_limits<double>::quiet_NaN());
    spoil(3 * 777 + 2, -std::numeric_limits<double>::infinity());
    const DeviceCopy copy(data);
    test::check_mentions(test::error_of<InputError>([&] { (void)engine.load(copy.view()); }),
                         {"row 777", "column 2", "-inf"});
    test::check_mentions(test::error_of<InputError>([&] { (void)engine.load(data.view()); }),
                         {"row 777", "column 2", "-inf"});
  }
  const double somewhere = 0;
  test::check_mentions(test::error_of<UsageError>([&] { (void)engine.load(DevicePointsView(&somewhere, 1, 1)); }),
                       {"not in the memory of a GPU", "PointsView"});
  const DataSet data = test::make_data("uniform", 10, 1, Precision::float64, 1);
  const DeviceCopy copy(data);
  const auto* const values = static_cast<const double*>(copy.view().data());
  test::check_mentions(
      test::error_of<UsageError>([&] { (void)engine.load(DevicePointsView(values, 10, 1, {.device = 77})); }),
      {"on GPU 0", "said to be on GPU 77", "EngineOptions::gpu = 0"});
}

TEST_CASE("gpu engine: points that a stream is still making are waited for") {
  if (!test::have_gpu()) return;
  const DataSet data = test::make_data("clustered", 500, 2, Precision::float64, 5);
  PinnedPool pool;
  const std::uint64_t bytes = data.view().bytes();
  const PinnedBytes pinned = pool.acquire(bytes);
  std::memcpy(pinned.as<void>(), data.view().data(), bytes);
  DeviceMemory memory(0, 1ULL << 28);
  const Stream stream;
  const DeviceBuffer<double> values(memory, stream.get(), data.doubles.size());
  check(cudaMemsetAsync(values.data(), 0, bytes, stream.get()));
  check(cudaLaunchHostFunc(
      stream.get(), [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(50)); }, nullptr));
  check(cudaMemcpyAsync(values.data(), pinned.as<void>(), bytes, cudaMemcpyHostToDevice, stream.get()));
  const Engine engine({.backend = BackendChoice::gpu, .gpu = 0});
  const Dataset loaded = engine.load(DevicePointsView(values.data(), 500, 2, {.stream = stream.get()}));
  check_results(run(loaded, grid({data.scale}, {4})), data);
}

TEST_CASE("gpu engine: what outlives an engine keeps no more than itself") {
  if (!test::have_gpu()) return;
  const DataSet data = test::make_data("uniform", 2'000'000, 2, Precision::float64, 5);
  const EngineOptions on_gpu{.backend = BackendChoice::gpu, .gpu = 0};
  const RunOptions on_device{.labels = MemorySpace::device};
  const Sweep sweep = grid({data.scale * 1e-3}, {4});
  (void)run(data.view(), sweep, on_gpu, on_device);  // loads the kernels, which stay in memory
  constexpr std::uint64_t kSlack = 48ULL << 20;
  const std::uint64_t before = free_memory(0);
  std::vector<VariantResult> retained;
  {
    const Engine engine(on_gpu);
    retained = run(engine.load(data.view()), sweep, on_device);
    CHECK(free_memory(0) + kSlack < before);
  }
  CHECK(free_memory(0) + kSlack >= before);
  CHECK(on_host(retained.front().device_labels).size() == 2'000'000);
}

TEST_CASE("gpu engine: many runs of one data set, one after another and from jobs") {
  if (!test::have_gpu()) return;
  const DataSet data = test::make_data("clustered", 800, 2, Precision::float64, 9);
  const Engine engine({.threads = 4, .backend = BackendChoice::gpu, .gpu = 0});
  const Dataset loaded = engine.load(data.view());
  const Sweep sweep = grid({data.scale, data.scale * 0.7}, {8, 4, 2});
  std::vector<Job> jobs;
  for (int i = 0; i < 5; ++i) {
    jobs.push_back(start(loaded, sweep, {.strategy = i % 2 == 0 ? StrategyChoice::automatic : StrategyChoice::table}));
    check_results(run(loaded, sweep), data);
  }
  jobs.push_back(start(loaded, sweep));
  jobs.back().cancel();
  for (int i = 0; i < 5; ++i) check_results(jobs[static_cast<std::size_t>(i)].results(), data);
  CHECK(jobs.back().wait_for(std::chrono::seconds(10)));
}

TEST_CASE("upload: pageable, pinned, small and large memory arrives whole") {
  if (!test::have_gpu()) return;
  DeviceMemory memory(0, 1ULL << 30);
  PinnedPool pool;
  const Stream stream;
  for (const std::uint64_t size : {0ULL, 1ULL, 100ULL, (1ULL << 20) + 1, (4ULL << 20) - 3, (37ULL << 20) + 12345}) {
    for (const unsigned threads : {1U, 3U, 16U}) {
      for (const bool pinned : {false, true}) {
        std::vector<unsigned char> pageable(size);
        for (std::uint64_t i = 0; i < size; ++i) pageable[i] = static_cast<unsigned char>(i * 2654435761U >> 13);
        const PinnedBytes other = pool.acquire(size);
        if (size > 0) std::memcpy(other.as<void>(), pageable.data(), size);
        const DeviceBuffer<unsigned char> to(memory, stream.get(), size);
        for (const std::size_t gpus : {1, 4}) {
          // Values that are not written become visible, whatever the memory held before.
          if (size > 0) check(cudaMemsetAsync(to.data(), 0xA5, size, stream.get()));
          stream.synchronize();
          upload(to.data(), pinned ? other.as<void>() : pageable.data(), size, {0, pool, threads, gpus});
          REQUIRE((size == 0 || read_values(to.data(), size, stream.get()) == pageable));
        }
      }
    }
  }
}

}  // namespace
}  // namespace epsflow::gpu
