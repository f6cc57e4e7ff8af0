#include <epsflow/gpu/base/memory.hpp>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/gpu.hpp"

#include <epsflow/gpu/base/device.hpp>
#include <epsflow/gpu/base/error.hpp>
#include <epsflow/gpu/base/idle_memory.hpp>
#include <epsflow/gpu/base/stream.hpp>

namespace epsflow::gpu {
namespace {

TEST_CASE("gpu error: names the error, the source line and the remedy") {
  CHECK_NOTHROW(check(cudaSuccess));
  test::check_mentions(test::error_of<DeviceError>([] { check(cudaErrorInvalidValue); }),
                       {"cudaErrorInvalidValue", "memory_test.cpp", "EngineOptions::backend = BackendChoice::cpu"});
  test::check_mentions(test::error_of<DeviceOutOfMemory>([] { check(cudaErrorMemoryAllocation); }),
                       {"EngineOptions::gpu_memory"});
  test::check_mentions(test::error_of<DeviceError>([] { check(cudaErrorNoKernelImageForDevice); }),
                       {"EPSFLOW_CUDA_ARCHITECTURES"});
}

TEST_CASE("gpu memory: a limit is obeyed, and what is freed can be had again") {
  if (!test::have_gpu()) return;
  DeviceMemory memory(0, 1 << 20);
  const Stream stream;
  {
    const DeviceBuffer<std::uint8_t> most(memory, stream.get(), 700'000);
    CHECK(memory.used() == 700'000);
    test::check_mentions(
        test::error_of<DeviceOutOfMemory>([&] { DeviceBuffer<std::uint8_t> more(memory, stream.get(), 400'000); }),
        {"390.6 KiB", "1.0 MiB", "EngineOptions::gpu_memory"});
    CHECK(memory.used() == 700'000);
  }
  CHECK(memory.used() == 0);
  DeviceBuffer<std::uint32_t> a(memory, stream.get(), 100'000);
  DeviceBuffer<std::uint32_t> b(std::move(a));
  CHECK(a.data() == nullptr);  // NOLINT(bugprone-use-after-move): the moved-from state is tested
  a = std::move(b);
  CHECK(a.size() == 100'000);
  CHECK(memory.used() == 400'000);
  a = {};
  CHECK(memory.used() == 0);
}

TEST_CASE("gpu memory: what is idle is given back after a second, and can be had again") {
  if (!test::have_gpu()) return;
  constexpr std::uint64_t kHeld = 64 << 20;
  constexpr std::uint64_t kMost = 2ULL << 30;
  DeviceMemory memory(0, 4ULL << 30);
  const IdleMemory idle(0, memory);
  const Stream stream;
  const DeviceBuffer<std::uint8_t> held(memory, stream.get(), kHeld);
  stream.synchronize();
  const std::uint64_t before = free_memory(0);
  const auto retained = [&] {
    const std::uint64_t now = free_memory(0);
    return now < before ? before - now : 0;
  };
  for (int round = 0; round < 2; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    { const DeviceBuffer<std::uint8_t> most(memory, stream.get(), kMost); }
    stream.synchronize();
    const std::uint64_t soon = retained();
    if (std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(500)) CHECK(soon >= kMost);
    while (retained() > kHeld && std::chrono::steady_clock::now() - begin < std::chrono::seconds(30)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    CHECK(retained() <= kHeld);
    CHECK(std::chrono::steady_clock::now() - begin > std::chrono::milliseconds(900));
  }
  CHECK(memory.used() == kHeld);
}

TEST_CASE("gpu memory: pinned memory comes back from the pool") {
  if (!test::have_gpu()) return;
  PinnedPool pool;
  void* first = nullptr;
  {
    const PinnedBytes bytes = pool.acquire(10'000);
    REQUIRE(bytes.size() >= 10'000);
    first = bytes.as<void>();
    std::memset(first, 1, 10'000);
    const PinnedBytes other = pool.acquire(10'000);
    CHECK(other.as<void>() != first);
  }
  const PinnedBytes again = pool.acquire(9'000);
  CHECK(again.size() >= 9'000);
  const PinnedBytes too = pool.acquire(9'000);
  CHECK((again.as<void>() == first || too.as<void>() == first));
}

TEST_CASE("gpu memory: copies into tables are whole across the borders of pieces") {
  if (!test::have_gpu()) return;
  TablePinner pinner(0, 4);
  MemoryBudget budget(1ULL << 30);
  ArenaPool pool(budget, &pinner);
  const std::uint64_t bytes = 3 * PagePinner::kPiece + 12'345;
  Arena arena = pool.acquire(bytes);
  REQUIRE(arena.grow(bytes));
  CHECK(budget.used() == pool.charge_of(bytes));
  cudaPointerAttributes attributes{};
  check(cudaPointerGetAttributes(&attributes, arena.data() + bytes - 1));
  CHECK(attributes.type == cudaMemoryTypeHost);
  DeviceMemory memory(0, 1ULL << 30);
  const Stream stream;
  const DeviceBuffer<std::byte> source(memory, stream.get(), bytes);
  check(cudaMemsetAsync(source.data(), 0x5A, bytes, stream.get()));
  for (const std::uint64_t offset : {std::uint64_t{0}, PagePinner::kPiece - 3, 2 * PagePinner::kPiece}) {
    const std::uint64_t length = bytes - offset - 7;
    std::memset(arena.data(), 0, bytes);
    copy_to_table(arena.data() + offset, source.data(), length, stream.get());
    stream.synchronize();
    std::uint64_t right = 0;
    for (std::uint64_t i = 0; i < bytes; ++i) {
      right += arena.data()[i] == (i >= offset && i < offset + length ? std::byte{0x5A} : std::byte{0}) ? 1 : 0;
    }
    CHECK(right == bytes);
  }
}

TEST_CASE("gpu stream: the completion comes once, when the work is done") {
  if (!test::have_gpu()) return;
  DeviceMemory memory(0, 1ULL << 28);
  const Stream stream;
  const DeviceBuffer<std::uint8_t> buffer(memory, stream.get(), 1 << 26);
  std::atomic<int> calls{0};
  std::atomic<bool> failed{false};
  check(cudaMemsetAsync(buffer.data(), 1, buffer.bytes(), stream.get()));
  stream.on_complete([&](std::exception_ptr error) {
    failed = error != nullptr;
    ++calls;
  });
  stream.synchronize();
  for (int i = 0; i < 1000 && calls == 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  CHECK(calls == 1);
  CHECK_FALSE(failed);
}

}  // namespace
}  // namespace epsflow::gpu
