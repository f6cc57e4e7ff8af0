// The memory budget and the memory of tables: reserved as address space, charged as it is touched, reused from eps to
// eps.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace epsflow {

/// Physical memory of this machine in bytes.
[[nodiscard]] std::uint64_t machine_memory() noexcept;

class ArenaPool;

/// Makes host memory reachable for a device's asynchronous copies. Thread-safe.
class PagePinner {
 public:
  PagePinner() = default;
  PagePinner(const PagePinner&) = delete;  // arenas hold its address
  PagePinner& operator=(const PagePinner&) = delete;
  virtual ~PagePinner() = default;

  /// A copy must not cross a multiple of so many bytes: what is pinned piece by piece is copied piece by piece.
  static constexpr std::uint64_t kPiece = 16ULL << 20;

  /// Touches and pins [begin, begin + bytes): whole pieces. Where the system refuses they stay as they are: copies then
  /// work as well, only slower.
  virtual void pin(std::byte* begin, std::uint64_t bytes) noexcept = 0;
  virtual void unpin(std::byte* begin, std::uint64_t bytes) noexcept = 0;
};

/// How many bytes may be held, and how many are. Thread-safe.
class MemoryBudget {
 public:
  explicit MemoryBudget(std::uint64_t total) noexcept : total_(total) {}

  /// Takes `bytes` from the budget, or leaves it alone and returns false. Idle arenas of the budget's pool are given up
  /// first where that makes room.
  [[nodiscard]] bool try_charge(std::uint64_t bytes) noexcept;
  void release(std::uint64_t bytes) noexcept { used_.fetch_sub(bytes, std::memory_order_relaxed); }

  [[nodiscard]] std::uint64_t total() const noexcept { return total_; }
  [[nodiscard]] std::uint64_t used() const noexcept { return used_.load(std::memory_order_relaxed); }

 private:
  friend class ArenaPool;

  std::uint64_t total_;
  std::atomic<std::uint64_t> used_{0};
  ArenaPool* pool_ = nullptr;
};

/// Bytes of a budget, given back at the end of the scope.
class MemoryCharge {
 public:
  MemoryCharge() = default;
  /// Throws ResourceError naming `what`, the bytes and the budget when they are not there.
  MemoryCharge(MemoryBudget& budget, std::uint64_t bytes, const char* what);
  MemoryCharge(MemoryCharge&& other) noexcept;
  MemoryCharge& operator=(MemoryCharge&& other) noexcept;
  ~MemoryCharge();

  /// Gives back all but `bytes`; does nothing when it holds fewer.
  void shrink(std::uint64_t bytes) noexcept;

 private:
  MemoryBudget* budget_ = nullptr;
  std::uint64_t bytes_ = 0;
};

/// One contiguous stretch of address space of a pool. Bytes become usable, and count against the budget, as it grows;
/// its address never changes. Move-only; returns to the pool when it dies, its touched pages kept for the next table.
class Arena {
 public:
  Arena() noexcept;
  Arena(Arena&& other) noexcept;
  Arena& operator=(Arena&& other) noexcept;
  ~Arena();

  [[nodiscard]] std::byte* data() const noexcept;
  /// Makes the first `bytes` bytes usable. False when the budget has no room for them (nothing changes then).
  /// Thread-safe; free of locks when they already are.
  [[nodiscard]] bool grow(std::uint64_t bytes);

 private:
  friend class ArenaPool;
  struct Mapping;
  Arena(ArenaPool* pool, std::unique_ptr<Mapping> mapping) noexcept;

  ArenaPool* pool_ = nullptr;
  std::unique_ptr<Mapping> mapping_;
};

/// Arenas of one budget. Idle arenas keep their pages, and so their charge, until somebody else needs the budget.
class ArenaPool {
 public:
  /// The one pool of `budget`, which must outlive the pool, and the pool its arenas. With a pinner, which must outlive
  /// it too, usable bytes are pinned, and charged in whole pieces.
  explicit ArenaPool(MemoryBudget& budget, PagePinner* pinner = nullptr) noexcept;
  ~ArenaPool();
  ArenaPool(const ArenaPool&) = delete;  // arenas hold its address
  ArenaPool& operator=(const ArenaPool&) = delete;

  /// An arena that can grow to `capacity` bytes, the idle one with the most touched pages first. Throws ResourceError
  /// when the address space is refused.
  [[nodiscard]] Arena acquire(std::uint64_t capacity);

  /// Bytes that a new arena could grow to if all idle ones were given up.
  [[nodiscard]] std::uint64_t available() const;
  /// Bytes that are charged, at most, for an arena that grows to `bytes`.
  [[nodiscard]] std::uint64_t charge_of(std::uint64_t bytes) const noexcept;
  [[nodiscard]] MemoryBudget& budget() const noexcept { return budget_; }

 private:
  friend class Arena;
  friend class MemoryBudget;
  /// Unmaps an idle arena and releases its charge; false when there is none.
  bool give_up_one() noexcept;
  void give_back(std::unique_ptr<Arena::Mapping> mapping) noexcept;

  MemoryBudget& budget_;
  PagePinner* pinner_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Arena::Mapping>> idle_;
};

}  // namespace epsflow
