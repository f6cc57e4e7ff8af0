#include <epsflow/core/memory.hpp>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/errors.hpp"

#include <epsflow/core/buffer.hpp>
#include <epsflow/core/error.hpp>

#if defined(__SANITIZE_ADDRESS__)
// These tests request more memory than there is. By default the sanitizer's allocator would end the program.
extern "C" const char* __asan_default_options() {  // NOLINT: the sanitizer defines the name
  return "allocator_may_return_null=1";
}
#endif

namespace epsflow {
namespace {

using test::check_mentions;
using test::error_of;

constexpr std::uint64_t kMiB = 1 << 20;

TEST_CASE("memory budget: charges up to the total, and not one byte more") {
  MemoryBudget budget(100);
  CHECK(budget.try_charge(60));
  CHECK_FALSE(budget.try_charge(41));
  CHECK(budget.used() == 60);
  CHECK(budget.try_charge(40));
  CHECK_FALSE(budget.try_charge(1));
  CHECK(budget.try_charge(0));
  budget.release(100);
  CHECK(budget.used() == 0);
  CHECK_FALSE(budget.try_charge(~std::uint64_t{0}));
  CHECK(budget.used() == 0);
}

TEST_CASE("memory budget: charges of many threads never exceed the total") {
  MemoryBudget budget(1000);
  std::atomic<std::uint64_t> held{0};
  std::atomic<bool> exceeded{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20'000; ++i) {
        if (!budget.try_charge(300)) continue;
        if ((held += 300) > 1000) exceeded = true;
        held -= 300;
        budget.release(300);
      }
    });
  }
  for (std::thread& t : threads) t.join();
  CHECK_FALSE(exceeded);
  CHECK(budget.used() == 0);
}

TEST_CASE("memory charge: gives back at the end of its scope, once") {
  MemoryBudget budget(100);
  {
    MemoryCharge charge(budget, 70, "the thing");
    CHECK(budget.used() == 70);
    MemoryCharge moved = std::move(charge);
    CHECK(budget.used() == 70);
    moved.shrink(30);
    CHECK(budget.used() == 30);
    moved.shrink(50);  // the charge does not grow again
    CHECK(budget.used() == 30);
    MemoryCharge other(budget, 20, "another");
    other = std::move(moved);
    CHECK(budget.used() == 50);
    MemoryCharge none;
    none.shrink(0);
  }
  CHECK(budget.used() == 0);
}

TEST_CASE("memory charge: what does not fit is named, and nothing is taken") {
  MemoryBudget budget(100);
  const MemoryCharge held(budget, 30, "held");
  const auto text = error_of<ResourceError>([&] { const MemoryCharge charge(budget, 71, "the index"); });
  check_mentions(text, {"the index", "71 bytes", "30 bytes", "100 bytes", "101 bytes", "EngineOptions::memory"});
  CHECK(budget.used() == 30);
}

TEST_CASE("machine memory: is known") { CHECK(machine_memory() > 16 * kMiB); }

TEST_CASE("arena: an arena without a pool holds nothing") {
  Arena arena;
  CHECK(arena.data() == nullptr);
  CHECK(arena.grow(0));
  CHECK_FALSE(arena.grow(1));
}

TEST_CASE("arena: grows in place within the budget, and keeps what was written") {
  MemoryBudget budget(40 * kMiB);
  ArenaPool pool(budget);
  Arena arena = pool.acquire(64 * kMiB);
  CHECK(budget.used() == 0);
  std::byte* const data = arena.data();
  REQUIRE(data != nullptr);
  REQUIRE(arena.grow(1000));
  std::memset(data, 0x5A, 1000);
  REQUIRE(arena.grow(33 * kMiB));
  CHECK(arena.data() == data);
  CHECK(data[999] == std::byte{0x5A});
  data[33 * kMiB - 1] = std::byte{1};
  CHECK(budget.used() >= 33 * kMiB);
  CHECK(budget.used() <= 40 * kMiB);
  CHECK(arena.grow(40 * kMiB));
  CHECK(budget.used() == 40 * kMiB);
  CHECK_FALSE(arena.grow(40 * kMiB + 1));
  CHECK(budget.used() == 40 * kMiB);
  CHECK(arena.grow(12));
}

TEST_CASE("arena: grows to the last byte of the budget where a whole step does not fit") {
  MemoryBudget budget(5'000'001);
  ArenaPool pool(budget);
  Arena arena = pool.acquire(100 * kMiB);
  CHECK(arena.grow(5'000'001));
  CHECK(budget.used() == 5'000'001);
  CHECK_FALSE(arena.grow(5'000'002));
}

TEST_CASE("arena: cannot grow past its capacity, a whole number of pieces") {
  MemoryBudget budget(1 << 30);
  ArenaPool pool(budget);
  Arena arena = pool.acquire(PagePinner::kPiece);
  CHECK(arena.grow(PagePinner::kPiece));
  CHECK_FALSE(arena.grow(PagePinner::kPiece + 1));
}

TEST_CASE("arena pool: an idle arena keeps its pages for the next table") {
  MemoryBudget budget(64 * kMiB);
  ArenaPool pool(budget);
  std::byte* first = nullptr;
  std::uint64_t held = 0;
  {
    Arena arena = pool.acquire(32 * kMiB);
    REQUIRE(arena.grow(10 * kMiB));
    first = arena.data();
    first[5] = std::byte{77};
    held = budget.used();
  }
  CHECK(budget.used() == held);
  CHECK(pool.available() == 64 * kMiB);
  Arena again = pool.acquire(20 * kMiB);
  CHECK(again.data() == first);
  CHECK(again.data()[5] == std::byte{77});
  CHECK(budget.used() == held);
  CHECK(again.grow(10 * kMiB));
  CHECK(budget.used() == held);
  CHECK(pool.available() == 64 * kMiB - held);
}

TEST_CASE("arena pool: the idle arena with the most pages goes first, and one that is too small not at all") {
  MemoryBudget budget(256 * kMiB);
  ArenaPool pool(budget);
  std::byte* most = nullptr;
  {
    Arena a = pool.acquire(64 * kMiB);
    Arena b = pool.acquire(64 * kMiB);
    REQUIRE(a.grow(1));
    REQUIRE(b.grow(40 * kMiB));
    most = b.data();
  }
  Arena large = pool.acquire(128 * kMiB);
  CHECK(large.data() != most);
  Arena fits = pool.acquire(8 * kMiB);
  CHECK(fits.data() == most);
}

TEST_CASE("arena pool: idle arenas are given up when somebody else needs the budget") {
  MemoryBudget budget(32 * kMiB);
  ArenaPool pool(budget);
  {
    Arena a = pool.acquire(16 * kMiB);
    Arena b = pool.acquire(16 * kMiB);
    REQUIRE(a.grow(12 * kMiB));
    REQUIRE(b.grow(12 * kMiB));
  }
  CHECK(budget.used() >= 24 * kMiB);
  // The arena is larger than both idle ones.
  Arena large = pool.acquire(64 * kMiB);
  CHECK(large.grow(32 * kMiB));
  CHECK(budget.used() == 32 * kMiB);
  CHECK(pool.available() == 0);
  CHECK_FALSE(large.grow(33 * kMiB));
}

TEST_CASE("arena pool: everything is given back at its end") {
  MemoryBudget budget(32 * kMiB);
  {
    ArenaPool pool(budget);
    Arena a = pool.acquire(16 * kMiB);
    REQUIRE(a.grow(9 * kMiB));
    Arena b = pool.acquire(2 * kMiB);
    b = std::move(a);
    REQUIRE(b.grow(10 * kMiB));
    Arena c(std::move(b));
    CHECK(c.data() != nullptr);
  }
  CHECK(budget.used() == 0);
}

TEST_CASE("arena pool: address space that the system refuses is an error") {
  MemoryBudget budget(~std::uint64_t{0} / 4);
  ArenaPool pool(budget);
  check_mentions(error_of<ResourceError>([&] { (void)pool.acquire(std::uint64_t{1} << 60); }),
                 {"1.0 EiB", "EngineOptions::memory"});
}

/// Records the pinned bytes and any invalid request.
class TestPinner final : public PagePinner {
 public:
  void pin(std::byte* begin, std::uint64_t bytes) noexcept override {
    wrong |= reinterpret_cast<std::uintptr_t>(begin) % kPiece != 0 || bytes == 0 || bytes % kPiece != 0;
    // If the pages did not exist, this would crash.
    *begin = begin[bytes - 1] = std::byte{1};
    pinned += bytes;
  }
  void unpin(std::byte* begin, std::uint64_t bytes) noexcept override {
    wrong |= reinterpret_cast<std::uintptr_t>(begin) % kPiece != 0 || bytes % kPiece != 0;
    pinned -= bytes;
  }
  std::uint64_t pinned = 0;
  bool wrong = false;
};

TEST_CASE("arena pool: with a pinner, whole pieces are pinned as they are charged, and unpinned as they are unmapped") {
  constexpr std::uint64_t kPiece = PagePinner::kPiece;
  TestPinner pinner;
  MemoryBudget budget(3 * kPiece + 5);
  {
    ArenaPool pool(budget, &pinner);
    CHECK(pool.charge_of(0) == 0);
    CHECK(pool.charge_of(1) == kPiece);
    CHECK(pool.charge_of(kPiece) == kPiece);
    CHECK(pool.charge_of(kPiece + 1) == 2 * kPiece);
    {
      Arena arena = pool.acquire(8 * kPiece);
      CHECK(pinner.pinned == 0);
      CHECK(arena.grow(1));
      CHECK(pinner.pinned == kPiece);
      CHECK(arena.grow(2 * kPiece + 1));
      CHECK(pinner.pinned == 3 * kPiece);
      CHECK(budget.used() == 3 * kPiece);
      // Five bytes are left, which are less than a piece.
      CHECK_FALSE(arena.grow(3 * kPiece + 1));
      CHECK(pinner.pinned == 3 * kPiece);
    }
    // Idle arenas stay pinned until their memory is needed.
    CHECK(pinner.pinned == 3 * kPiece);
    const MemoryCharge charge(budget, kPiece, "something else");
    CHECK(pinner.pinned == 0);
    Arena other = pool.acquire(kPiece);
    CHECK(other.grow(kPiece));
    CHECK(pinner.pinned == kPiece);
  }
  CHECK(pinner.pinned == 0);
  CHECK_FALSE(pinner.wrong);
  MemoryBudget plain(100);
  CHECK(ArenaPool(plain).charge_of(1) == 1);
}

TEST_CASE("arena: threads that grow one arena charge it once") {
  MemoryBudget budget(256 * kMiB);
  ArenaPool pool(budget);
  Arena arena = pool.acquire(128 * kMiB);
  std::atomic<bool> refused{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (std::uint64_t bytes = 1; bytes <= 100 * kMiB; bytes += kMiB / 4) {
        if (!arena.grow(bytes)) refused = true;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  CHECK_FALSE(refused);
  CHECK(budget.used() >= 100 * kMiB - kMiB / 4);
  CHECK(budget.used() <= 128 * kMiB);
}

TEST_CASE("buffer: aligned, sized, movable") {
  for (const std::uint64_t size : {1U, 1000U, 3'000'000U}) {
    Buffer<std::uint32_t> buffer(size);
    CHECK(reinterpret_cast<std::uintptr_t>(buffer.data()) % 64 == 0);
    CHECK(buffer.size() == size);
    CHECK(buffer.bytes() == size * 4);
    buffer[size - 1] = 7;
    std::uint32_t* const data = buffer.data();
    Buffer<std::uint32_t> moved = std::move(buffer);
    CHECK(moved.data() == data);
    CHECK(moved[size - 1] == 7);
    CHECK(buffer.size() == 0);  // NOLINT(bugprone-use-after-move): a moved-from buffer is empty
    CHECK(buffer.empty());
    buffer = std::move(moved);
    CHECK(buffer.span().size() == size);
    CHECK(static_cast<std::size_t>(buffer.end() - buffer.begin()) == size);
  }
  CHECK(Buffer<double>().empty());
  CHECK(Buffer<double>(0).size() == 0);
}

TEST_CASE("buffer: bytes after the end are readable") {
  Buffer<std::uint8_t> buffer(3);
  volatile std::uint8_t sum = 0;
  for (std::size_t i = 3; i < 3 + Buffer<std::uint8_t>::kPadding; ++i) {
    sum = static_cast<std::uint8_t>(sum + buffer.data()[i]);
  }
  CHECK(sum == sum);
}

TEST_CASE("buffer: sizes that cannot be had are errors, and never small allocations") {
  check_mentions(error_of<ResourceError>([] { (void)Buffer<std::uint64_t>(std::uint64_t{1} << 61); }), {"64 bits"});
  check_mentions(error_of<ResourceError>([] { (void)Buffer<std::uint64_t>(std::uint64_t{1} << 58); }), {"2.0 EiB"});
  check_mentions(error_of<ResourceError>([] { (void)Buffer<std::uint8_t>(~std::uint64_t{0} - 200); }), {"16.0 EiB"});
}

TEST_CASE("buffer: of sizes around huge pages every byte can be used") {
  for (const std::uint64_t kib : {1000, 1024, 1900, 2047, 2048, 2100, 3900, 4096, 4200, 20000}) {
    Buffer<std::uint8_t> buffer(kib << 10);
    std::memset(buffer.data(), 7, buffer.size());
    CHECK(reinterpret_cast<std::uintptr_t>(buffer.data()) % 64 == 0);
    CHECK(buffer[0] + buffer[buffer.size() - 1] == 14);
  }
}

TEST_CASE("buffer: the padding does not overflow the size") {
  CHECK_THROWS_AS(Buffer<std::uint8_t>(~std::uint64_t{0}), ResourceError);
  CHECK_THROWS_AS(Buffer<std::uint8_t>(~std::uint64_t{0} - 127), ResourceError);
  CHECK_THROWS_AS(Buffer<std::uint64_t>(~std::uint64_t{0} / 8), ResourceError);
}

}  // namespace
}  // namespace epsflow
