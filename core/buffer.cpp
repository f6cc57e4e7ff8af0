#include <epsflow/core/buffer.hpp>

#include <cstddef>
#include <cstdlib>
#include <string>

#include <epsflow/core/format.hpp>

#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace epsflow::detail {

namespace {

constexpr std::uint64_t kHugePage = 2ULL << 20;
constexpr std::uint64_t kFewestMapped = 1ULL << 20;
/// The last huge page may waste at most the size of the block divided by this.
constexpr std::uint64_t kFewOfHuge = 8;

constexpr std::uint64_t round_up(std::uint64_t bytes, std::uint64_t unit) { return (bytes + unit - 1) / unit * unit; }

#if defined(__linux__)
/// Returns a mapping that begins at a multiple of `alignment`, or null. All sizes are multiples of a page.
void* map(std::uint64_t bytes, std::uint64_t alignment) noexcept {
  void* const all = mmap(nullptr, bytes + alignment, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (all == MAP_FAILED) return nullptr;
  auto* const begin = static_cast<std::byte*>(all);
  const std::uint64_t before = (alignment - reinterpret_cast<std::uintptr_t>(begin) % alignment) % alignment;
  if (before > 0) (void)munmap(begin, before);
  (void)munmap(begin + before + bytes, alignment - before);
  return begin + before;
}
#endif

}  // namespace

void AlignedFree::operator()(void* p) const noexcept {
#if defined(__linux__)
  if (mapped > 0) {
    (void)munmap(p, mapped);
    return;
  }
#endif
  std::free(p);
}

AlignedMemory aligned_allocate(std::uint64_t bytes, std::uint64_t padding) {
  constexpr std::uint64_t kMost = (~std::uint64_t{0} >> 1) - 2 * kHugePage;
  const std::uint64_t padded = bytes <= kMost - padding ? bytes + padding : kMost;
  AlignedMemory memory;
#if defined(__linux__)
  if (padded >= kFewestMapped && padded < kMost) {
    const bool huge = padded >= kHugePage;
    const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    // The end has small pages if a huge one would take much more than is needed.
    std::uint64_t mapped = round_up(padded, huge ? kHugePage : page);
    if ((mapped - padded) * kFewOfHuge > padded) mapped = round_up(padded, page);
    memory = AlignedMemory(map(mapped, huge ? kHugePage : page), AlignedFree{mapped});
    // A refusal costs speed only, so the result is ignored.
    if (huge && memory != nullptr) (void)madvise(memory.get(), mapped, MADV_HUGEPAGE);
  }
#endif
  if (memory == nullptr && padded < kMost) {
    constexpr std::uint64_t kAlignment = 64;
    memory = AlignedMemory(std::aligned_alloc(kAlignment, round_up(padded, kAlignment)), AlignedFree{});
  }
  if (memory == nullptr) {
    throw ResourceError("cannot allocate " + format_bytes(bytes) + "; use a machine with more memory or fewer points");
  }
  return memory;
}

}  // namespace epsflow::detail
