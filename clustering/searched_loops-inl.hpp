// Shared code of the loops that search the neighbours of each row (searched_loops.hpp). Each source that includes it
// compiles it once per instruction set.
#if defined(EPSFLOW_CLUSTERING_SEARCHED_LOOPS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef EPSFLOW_CLUSTERING_SEARCHED_LOOPS_INL_HPP
#undef EPSFLOW_CLUSTERING_SEARCHED_LOOPS_INL_HPP
#else
#define EPSFLOW_CLUSTERING_SEARCHED_LOOPS_INL_HPP
#endif

#include <hwy/highway.h>
#include <cstddef>
#include <cstdint>
#include <span>

#include <epsflow/clustering/parent_filter-inl.hpp>
#include <epsflow/index/candidate_ranges.hpp>
#include <epsflow/index/row_test-inl.hpp>
#include <epsflow/index/search_index.hpp>
#include <epsflow/index/tile_test-inl.hpp>

HWY_BEFORE_NAMESPACE();
namespace epsflow::clustering {
namespace HWY_NAMESPACE {

using index::for_each_bundle;
using index::SearchIndex;
using index::SearchInput;
using index::HWY_NAMESPACE::Panel;
using index::HWY_NAMESPACE::RowTest;
using index::HWY_NAMESPACE::TileRowTest;
using index::HWY_NAMESPACE::with_types;

/// Calls f(row, candidates of the row's bundle) for each row of `rows`, in order.
template <class F>
HWY_INLINE void for_each_row(const SearchIndex& index, Range rows, F f) {
  for_each_bundle(index, rows, [&](Range bundle, std::span<const Range> candidates) HWY_ATTR {
    for (std::uint32_t row = bundle.begin; row < bundle.end; ++row) f(row, candidates);
  });
}

/// Calls f(position), ascending, for each core neighbour of the row of `test` that may be in another set than the set
/// with the root root(). Skips positions from `end` on, and positions whose parent is root() or kNotCore. The parents
/// of 32 positions are read by other_sets() before `test` tests these positions. A neighbour may join the set of root()
/// in between, so f must check its parent again. root: called once for 32 positions, so f may change its value.
/// candidates: ascending. parent: the parent of each position, followed by Buffer::kPadding readable bytes.
template <class T, std::size_t D, class Root, class F>
HWY_INLINE void for_each_other(const RowTest<T, D>& test, std::span<const Range> candidates, std::uint32_t end,
                               const std::uint32_t* parent, Root root, F f) {
  for (const Range& range : candidates) {
    const std::uint64_t last = HWY_MIN(range.end, end);
    for (std::uint64_t first = range.begin; first < last; first += 32) {
      const std::uint64_t left = last - first;
      const std::uint32_t all = left >= 32 ? ~0U : (1U << left) - 1;
      std::uint32_t bits = other_sets(parent + first, all, root());
      if (bits == 0) continue;
      for (bits &= test.word(first, last); bits != 0; bits &= bits - 1) {
        f(static_cast<std::uint32_t>(first) + static_cast<std::uint32_t>(__builtin_ctz(bits)));
      }
    }
  }
}

/// Does the same for points with rounded coordinates (tile_test-inl.hpp). The requirements, and the order of the calls
/// of f, are the same. A panel is a block of 16 positions. Panels with candidates of other sets are collected, and
/// several of them are tested at once, because that is faster. So root() may be called, and parents may be read, for
/// later positions before f is called for earlier ones.
template <class T, class Root, class F>
HWY_INLINE void for_each_other(const TileRowTest<T>& test, std::span<const Range> candidates, std::uint32_t end,
                               const std::uint32_t* parent, Root root, F f) {
  Panel gathered[TileRowTest<T>::kMostPanels + 1];
  std::size_t count = 0;
  const auto test_gathered = [&]() HWY_ATTR {
    test.panels(gathered, count, [&](const Panel& panel, std::uint32_t bits) HWY_ATTR {
      for (; bits != 0; bits &= bits - 1) f(panel.first() + static_cast<std::uint32_t>(__builtin_ctz(bits)));
    });
    count = 0;
  };
  for (const Range& range : candidates) {
    const std::uint64_t last = HWY_MIN(range.end, end);
    for (std::uint64_t first = range.begin - range.begin % 32; first < last; first += 32) {
      const std::uint64_t left = last - first;
      std::uint32_t all = left >= 32 ? ~0U : (1U << left) - 1;
      if (first < range.begin) all &= ~0U << (range.begin - first);
      const std::uint32_t bits = other_sets(parent + first, all, root());
      if (bits == 0) continue;
      const auto index = static_cast<std::uint32_t>(first / index::RoundedPoints::kPanel);
      gathered[count] = {index, bits & 0xFFFFU};
      count += (bits & 0xFFFFU) != 0 ? 1 : 0;
      gathered[count] = {index + 1, bits >> 16};
      count += bits >> 16 != 0 ? 1 : 0;
      if (count >= TileRowTest<T>::kMostPanels) test_gathered();
    }
  }
  if (count > 0) test_gathered();
}

/// Calls f.template operator()<Test>() with the row test of the input: TileRowTest if it has rounded points, else
/// RowTest for its precision and dimensions.
template <class F>
HWY_INLINE void with_test(const SearchInput& in, F f) {
  if (in.rounded == nullptr) {
    with_types(in, [&]<class T, std::size_t D>() HWY_ATTR { f.template operator()<RowTest<T, D>>(); });
  } else if (in.precision == Precision::float32) {
    f.template operator()<TileRowTest<float>>();
  } else {
    f.template operator()<TileRowTest<double>>();
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace epsflow::clustering
HWY_AFTER_NAMESPACE();

#endif
