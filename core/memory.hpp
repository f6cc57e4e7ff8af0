// The memory budget and the memory of tables: reserved as address space, charged when touched, reused for each eps.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace epsflow {

/// Returns the physical memory of this machine in bytes, or 0 if it is not known.
[[nodiscard]] std::uint64_t machine_memory() noexcept;

class ArenaPool;

/// Makes host memory accessible to a device's asynchronous copies. Thread-safe.
class PagePinner {
 public:
  PagePinner() = default;
  PagePinner(const PagePinner&) = delete;  // arenas hold its address
  PagePinner& operator=(const PagePinner&) = delete;
  virtual ~PagePinner() = default;

  /// A copy must not cross an address that is a multiple of this number of bytes: memory is pinned in pieces, so it is
  /// copied in pieces.
  static constexpr std::uint64_t kPiece = 16ULL << 20;

  /// Touches and pins the whole pieces [begin, begin + bytes). If the system refuses, copies are slower.
  virtual void pin(std::byte* begin, std::uint64_t bytes) noexcept = 0;
  virtual void unpin(std::byte* begin, std::uint64_t bytes) noexcept = 0;
};

/// A limit on the bytes that are held, and their current number. Thread-safe.
class MemoryBudget {
 public:
  explicit MemoryBudget(std::uint64_t total) noexcept : total_(total) {}

  /// Takes `bytes` from the budget. If they do not fit, idle arenas of the budget's pool are given up one by one until
  /// they do. Returns false, and takes nothing, if they do not fit without idle arenas either.
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

/// Bytes of a budget, released at the end of the scope.
class MemoryCharge {
 public:
  MemoryCharge() = default;
  /// Throws ResourceError naming `what`, the bytes and the budget if the budget does not suffice.
  MemoryCharge(MemoryBudget& budget, std::uint64_t bytes, const char* what);
  MemoryCharge(MemoryCharge&& other) noexcept;
  MemoryCharge& operator=(MemoryCharge&& other) noexcept;
  ~MemoryCharge();

  /// Releases all except `bytes`; does nothing if it holds fewer.
  void shrink(std::uint64_t bytes) noexcept;

 private:
  MemoryBudget* budget_ = nullptr;
  std::uint64_t bytes_ = 0;
};

/// One contiguous range of address space of a pool. Bytes become usable, and count against the budget, as it grows; its
/// address never changes. Move-only. The destructor returns it to the pool, which keeps touched pages.
class Arena {
 public:
  Arena() noexcept;
  Arena(Arena&& other) noexcept;
  Arena& operator=(Arena&& other) noexcept;
  ~Arena();

  [[nodiscard]] std::byte* data() const noexcept;
  /// Makes the first `bytes` bytes usable. Returns false, and leaves the arena unchanged, if they exceed its capacity
  /// or do not fit the budget. Thread-safe; lock-free if they are already usable.
  [[nodiscard]] bool grow(std::uint64_t bytes);

 private:
  friend class ArenaPool;
  struct Mapping;
  Arena(ArenaPool* pool, std::unique_ptr<Mapping> mapping) noexcept;

  ArenaPool* pool_ = nullptr;
  std::unique_ptr<Mapping> mapping_;
};

/// Arenas of one budget. Idle arenas keep their pages, and so their charge, until other work needs the budget.
class ArenaPool {
 public:
  /// The only pool of `budget`. The budget must outlive the pool, and the pool its arenas. With a pinner, which must
  /// outlive it too, usable bytes are pinned, and charged in whole pieces.
  explicit ArenaPool(MemoryBudget& budget, PagePinner* pinner = nullptr) noexcept;
  ~ArenaPool();
  ArenaPool(const ArenaPool&) = delete;  // arenas hold its address
  ArenaPool& operator=(const ArenaPool&) = delete;

  /// Returns an arena with address space for `capacity` bytes or more: of the idle ones that are large enough the one
  /// with the most touched pages, or a new one. Throws ResourceError if the system refuses the address space.
  [[nodiscard]] Arena acquire(std::uint64_t capacity);

  /// Returns the bytes that a new arena could grow to if all idle ones were given up.
  [[nodiscard]] std::uint64_t available() const;
  /// Returns the bytes of the budget that suffice for a new arena to grow to `bytes`: with a pinner, whole pieces.
  /// Without one, Arena::grow() charges whole pieces, too, if they fit the budget.
  [[nodiscard]] std::uint64_t charge_of(std::uint64_t bytes) const noexcept;
  [[nodiscard]] MemoryBudget& budget() const noexcept { return budget_; }

 private:
  friend class Arena;
  friend class MemoryBudget;
  /// Unmaps an idle arena and releases its charge; returns false if there is none.
  bool give_up_one() noexcept;
  void give_back(std::unique_ptr<Arena::Mapping> mapping) noexcept;

  MemoryBudget& budget_;
  PagePinner* pinner_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Arena::Mapping>> idle_;
};

}  // namespace epsflow
