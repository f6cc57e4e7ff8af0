#include <epsflow/core/buffer.hpp>

#include <cstdlib>
#include <cstring>
#include <string>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace epsflow::detail {

void AlignedFree::operator()(void* p) const noexcept { std::free(p); }

void* aligned_allocate(std::uint64_t bytes) {
  constexpr std::uint64_t kHugePage = 2ULL << 20;
  const std::uint64_t alignment = bytes >= 2 * kHugePage ? kHugePage : 64;
  void* p = nullptr;
  if (bytes <= ~alignment) {
    p = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  }
  if (p == nullptr) {
    throw ResourceError("cannot allocate " + std::to_string(bytes) +
                        " bytes; use a machine with more memory or fewer points");
  }
#if defined(__linux__)
  // A refusal costs speed only, so the result is of no interest.
  if (alignment == kHugePage) (void)madvise(p, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);
#endif
  return p;
}

}  // namespace epsflow::detail
