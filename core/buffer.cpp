#include <epsflow/core/buffer.hpp>

#include <cstdlib>
#include <cstring>
#include <string>

#include <epsflow/core/format.hpp>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace epsflow::detail {

void AlignedFree::operator()(void* p) const noexcept { std::free(p); }

void* aligned_allocate(std::uint64_t bytes, std::uint64_t padding) {
  constexpr std::uint64_t kHugePage = 2ULL << 20;
  constexpr std::uint64_t kMost = ~std::uint64_t{0} - 2 * kHugePage;
  const std::uint64_t alignment = bytes >= 2 * kHugePage ? kHugePage : 64;
  const std::uint64_t padded = bytes <= kMost - padding ? bytes + padding : kMost;
  void* p = nullptr;
  if (padded < kMost) p = std::aligned_alloc(alignment, (padded + alignment - 1) / alignment * alignment);
  if (p == nullptr) {
    throw ResourceError("cannot allocate " + format_bytes(bytes) + "; use a machine with more memory or fewer points");
  }
#if defined(__linux__)
  // A refusal costs speed only, so the result is of no interest.
  if (alignment == kHugePage) (void)madvise(p, padded / kHugePage * kHugePage, MADV_HUGEPAGE);
#endif
  return p;
}

}  // namespace epsflow::detail
