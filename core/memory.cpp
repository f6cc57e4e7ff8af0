#include <epsflow/core/memory.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>

#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>

namespace epsflow {
namespace {

constexpr std::uint64_t kStep = PagePinner::kPiece;  // charged in steps: appenders rarely meet at the lock

constexpr std::uint64_t round_up(std::uint64_t bytes, std::uint64_t unit) { return (bytes + unit - 1) / unit * unit; }

}  // namespace

std::uint64_t machine_memory() noexcept {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long size = sysconf(_SC_PAGE_SIZE);
  return pages > 0 && size > 0 ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(size) : 0;
}

bool MemoryBudget::try_charge(std::uint64_t bytes) noexcept {
  std::uint64_t used = used_.load(std::memory_order_relaxed);
  while (true) {
    if (used > total_ || bytes > total_ - used) {
      if (pool_ == nullptr || !pool_->give_up_one()) return false;
      used = used_.load(std::memory_order_relaxed);
    } else if (used_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed)) {
      return true;
    }
  }
}

ResourceError::ResourceError(const std::string& what, const std::string& remedy, std::uint64_t needed)
    : Error(what + ": raise EngineOptions::memory to " + remedy + ", or cluster fewer points"),
      what_(what),
      needed_(needed) {}

ResourceError::ResourceError(const std::string& what, std::uint64_t needed)
    : ResourceError(what, "at least " + format_needed_bytes(needed), needed) {}

ResourceError ResourceError::with(std::uint64_t enough) const {
  const std::uint64_t most = std::max(enough, needed_);
  return {what_, format_needed_bytes(most) + ", which is enough", most};
}

MemoryCharge::MemoryCharge(MemoryBudget& budget, std::uint64_t bytes, const char* what)
    : budget_(&budget), bytes_(bytes) {
  if (!budget.try_charge(bytes)) {
    budget_ = nullptr;
    const std::uint64_t used = budget.used();
    throw ResourceError(std::string(what) + " needs " + format_bytes(bytes) + "; of the memory budget of " +
                            format_bytes(budget.total()) + ", " + format_bytes(used) + " are taken",
                        used + bytes);
  }
}

MemoryCharge::MemoryCharge(MemoryCharge&& other) noexcept
    : budget_(std::exchange(other.budget_, nullptr)), bytes_(other.bytes_) {}

MemoryCharge& MemoryCharge::operator=(MemoryCharge&& other) noexcept {
  std::swap(budget_, other.budget_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

MemoryCharge::~MemoryCharge() {
  if (budget_ != nullptr) budget_->release(bytes_);
}

void MemoryCharge::shrink(std::uint64_t bytes) noexcept {
  if (budget_ == nullptr || bytes >= bytes_) return;
  budget_->release(bytes_ - bytes);
  bytes_ = bytes;
}

struct Arena::Mapping {
  /// [address, address + size + kStep) is mapped; the arena begins at the first multiple of kStep in it.
  Mapping(void* address, std::uint64_t size, PagePinner* p) noexcept
      : mapped(address), base(first_multiple(address)), reserved(size), pinner(p) {}
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  static std::byte* first_multiple(void* address) noexcept {
    std::size_t space = 2 * kStep;
    return static_cast<std::byte*>(std::align(kStep, kStep, address, space));
  }
  ~Mapping() {
    if (pinner != nullptr) pinner->unpin(base, charged.load());
    munmap(mapped, reserved + kStep);
  }

  void* mapped;
  std::byte* base;
  std::uint64_t reserved;
  PagePinner* pinner;
  std::atomic<std::uint64_t> charged{0};
  std::mutex growing;
};

Arena::Arena() noexcept = default;

Arena::Arena(ArenaPool* pool, std::unique_ptr<Mapping> mapping) noexcept : pool_(pool), mapping_(std::move(mapping)) {}

Arena::Arena(Arena&& other) noexcept
    : pool_(std::exchange(other.pool_, nullptr)), mapping_(std::move(other.mapping_)) {}

Arena& Arena::operator=(Arena&& other) noexcept {
  std::swap(pool_, other.pool_);
  std::swap(mapping_, other.mapping_);
  return *this;
}

Arena::~Arena() {
  if (mapping_ != nullptr) pool_->give_back(std::move(mapping_));
}

std::byte* Arena::data() const noexcept { return mapping_ == nullptr ? nullptr : mapping_->base; }

bool Arena::grow(std::uint64_t bytes) {
  if (mapping_ == nullptr) return bytes == 0;
  if (bytes <= mapping_->charged.load(std::memory_order_acquire)) return true;
  if (bytes > mapping_->reserved) return false;
  const std::scoped_lock lock(mapping_->growing);
  const std::uint64_t charged = mapping_->charged.load(std::memory_order_relaxed);
  if (bytes <= charged) return true;
  for (const std::uint64_t wanted : {round_up(bytes, kStep), pool_->charge_of(bytes)}) {
    if (!pool_->budget_.try_charge(wanted - charged)) continue;
    if (pool_->pinner_ != nullptr) pool_->pinner_->pin(mapping_->base + charged, wanted - charged);
    mapping_->charged.store(wanted, std::memory_order_release);
    return true;
  }
  return false;
}

ArenaPool::ArenaPool(MemoryBudget& budget, PagePinner* pinner) noexcept : budget_(budget), pinner_(pinner) {
  budget_.pool_ = this;
}

ArenaPool::~ArenaPool() {
  budget_.pool_ = nullptr;
  for (const auto& mapping : idle_) budget_.release(mapping->charged.load());
}

Arena ArenaPool::acquire(std::uint64_t capacity) {
  const std::uint64_t size = round_up(std::max<std::uint64_t>(capacity, 1), kStep);
  {
    const std::scoped_lock lock(mutex_);
    auto best = idle_.end();
    for (auto it = idle_.begin(); it != idle_.end(); ++it) {
      if ((*it)->reserved < size) continue;
      if (best == idle_.end() || (*it)->charged.load() > (*best)->charged.load()) best = it;
    }
    if (best != idle_.end()) {
      std::unique_ptr<Arena::Mapping> mapping = std::move(*best);
      idle_.erase(best);
      return {this, std::move(mapping)};
    }
  }
  void* base = mmap(nullptr, size + kStep, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) {
    throw ResourceError("the system refuses " + format_bytes(size) +
                        " of address space for a table: lower EngineOptions::memory or raise ulimit -v");
  }
  // A refusal costs speed only, so the result is ignored.
  (void)madvise(base, size + kStep, MADV_HUGEPAGE);
  return {this, std::make_unique<Arena::Mapping>(base, size, pinner_)};
}

std::uint64_t ArenaPool::available() const {
  const std::scoped_lock lock(mutex_);
  std::uint64_t bytes = budget_.total() - std::min(budget_.total(), budget_.used());
  for (const auto& mapping : idle_) bytes += mapping->charged.load();
  return bytes;
}

std::uint64_t ArenaPool::charge_of(std::uint64_t bytes) const noexcept {
  return pinner_ == nullptr ? bytes : round_up(bytes, kStep);
}

bool ArenaPool::give_up_one() noexcept {
  const std::scoped_lock lock(mutex_);
  if (idle_.empty()) return false;
  budget_.release(idle_.back()->charged.load());
  idle_.pop_back();
  return true;
}

void ArenaPool::give_back(std::unique_ptr<Arena::Mapping> mapping) noexcept {
  const std::scoped_lock lock(mutex_);
  try {
    idle_.push_back(std::move(mapping));
  } catch (...) {  // memory does not suffice to remember it: give it up instead
    if (mapping != nullptr) budget_.release(mapping->charged.load());
  }
}

}  // namespace epsflow
