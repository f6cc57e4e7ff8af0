// Finds which of 32 nodes may be in another set. Each source that includes it compiles it once per instruction set.
#if defined(EPSFLOW_CLUSTERING_PARENT_FILTER_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef EPSFLOW_CLUSTERING_PARENT_FILTER_INL_HPP
#undef EPSFLOW_CLUSTERING_PARENT_FILTER_INL_HPP
#else
#define EPSFLOW_CLUSTERING_PARENT_FILTER_INL_HPP
#endif

#include <hwy/highway.h>
#include <cstddef>
#include <cstdint>

#include <epsflow/clustering/cluster_source.hpp>

// The only plain read of memory that other threads write; see other_sets(). The thread sanitizer would report it as a
// race, so it is not instrumented there; a function without instrumentation cannot be inlined into one with it.
#if !defined(EPSFLOW_RACY_READ)
#if defined(__SANITIZE_THREAD__)
#define EPSFLOW_RACY_READ inline HWY_NOINLINE __attribute__((no_sanitize("thread")))
#else
#define EPSFLOW_RACY_READ HWY_INLINE
#endif
#endif

HWY_BEFORE_NAMESPACE();
namespace epsflow::clustering {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using ParentTag = hn::ScalableTag<std::uint32_t>;
constexpr std::size_t kLanes = hn::MaxLanes(ParentTag());

/// Returns the bits of `word` whose nodes may be in another set than root's: bit i stays set if parent[i] is neither
/// kNotCore nor `root`. `root` may be kNotCore, for no set. parent: from node 0 of the word on, 32 readable entries.
///
/// Reads the parents plainly while other threads write them. The result is only a filter, and any value that an entry
/// has ever had is sufficient: kNotCore never changes while rows are read, and an entry that was once `root` stays in
/// root's set. Entries that pass are read again with an atomic load.
EPSFLOW_RACY_READ std::uint32_t other_sets(const std::uint32_t* parent, std::uint32_t word, std::uint32_t root) {
  const auto not_core = hn::Set(ParentTag(), kNotCore);
  const auto mine = hn::Set(ParentTag(), root);
  std::uint32_t others = 0;
  for (std::size_t k = 0; k < 32; k += kLanes) {
    const auto p = hn::LoadU(ParentTag(), parent + k);
    std::uint8_t bytes[8] = {};
    hn::StoreMaskBits(ParentTag(), hn::And(hn::Ne(p, mine), hn::Ne(p, not_core)), bytes);
    others |= (std::uint32_t{bytes[0]} | (std::uint32_t{bytes[1]} << 8)) << k;
  }
  return others & word;
}

}  // namespace HWY_NAMESPACE
}  // namespace epsflow::clustering
HWY_AFTER_NAMESPACE();

#endif
