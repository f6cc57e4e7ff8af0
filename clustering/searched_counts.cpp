#include <epsflow/clustering/searched_loops.hpp>

#include <epsflow/index/instruction_sets.hpp>
// Must come before any header of Highway.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "epsflow/clustering/searched_counts.cpp"  // NOLINT: compiled once per instruction set
#include <hwy/foreach_target.h>
// foreach_target.h must come first
#include <hwy/highway.h>

#include <vector>

#include <epsflow/clustering/searched_loops-inl.hpp>

HWY_BEFORE_NAMESPACE();
namespace epsflow::clustering {
namespace HWY_NAMESPACE {

using index::HWY_NAMESPACE::list_panels;

template <class T, std::size_t D>
void count(const SearchIndex& index, const SearchInput& in, Range rows, std::uint32_t most, std::uint32_t* counts) {
  for_each_row(index, rows, [&](std::uint32_t row, std::span<const Range> candidates) HWY_ATTR {
    const RowTest<T, D> test(in, row);
    std::uint32_t found = 0;
    for (const Range& range : candidates) {
      for (std::uint64_t q = range.begin; q < range.end && found < most; q += 32) {
        found += static_cast<std::uint32_t>(__builtin_popcount(test.word(q, range.end)));
      }
    }
    counts[row] = HWY_MIN(found, most);
  });
}

template <class T>
void count_by_tiles(const SearchIndex& index, const SearchInput& in, Range rows, std::uint32_t most,
                    std::uint32_t* counts) {
  for_each_bundle(index, rows, [&](Range bundle, std::span<const Range> candidates) HWY_ATTR {
    index::HWY_NAMESPACE::count_up_to<T>(in, bundle, candidates, most, counts + bundle.begin);
  });
}

/// Calls f(position) for the neighbours of a row until enough() returns true.
template <class T, std::size_t D, class Enough, class F>
HWY_INLINE void for_each_neighbor(const RowTest<T, D>& test, std::span<const Range> candidates, Enough enough, F f) {
  for (const Range& range : candidates) {
    for (std::uint64_t q = range.begin; q < range.end; q += 32) {
      for (std::uint32_t bits = test.word(q, range.end); bits != 0; bits &= bits - 1) {
        f(static_cast<std::uint32_t>(q) + static_cast<std::uint32_t>(__builtin_ctz(bits)));
      }
      if (enough()) return;
    }
  }
}

template <class T, class Enough, class F>
HWY_INLINE void for_each_neighbor(const TileRowTest<T>& test, std::span<const Range> candidates, Enough enough, F f) {
  thread_local std::vector<Panel> panels;
  list_panels(candidates, panels);
  for (std::size_t i = 0; i < panels.size() && !enough(); i += TileRowTest<T>::kMostPanels) {
    const std::size_t count = HWY_MIN(panels.size() - i, TileRowTest<T>::kMostPanels);
    test.panels(panels.data() + i, count, [&](const Panel& panel, std::uint32_t bits) HWY_ATTR {
      for (; bits != 0; bits &= bits - 1) f(panel.first() + static_cast<std::uint32_t>(__builtin_ctz(bits)));
    });
  }
}

template <class Test>
void weigh(const SearchIndex& index, const SearchInput& in, Range rows, const Weighing& weighing,
           std::uint32_t* counts) {
  for_each_row(index, rows, [&](std::uint32_t row, std::span<const Range> candidates) HWY_ATTR {
    WeightSum sum = 0;
    for_each_neighbor(
        Test(in, row), candidates, [&] { return sum >= weighing.levels().enough(); },
        [&](std::uint32_t neighbor) { sum += weighing.units()[neighbor]; });
    counts[row] = weighing.count(sum);
  });
}

void count_any(const SearchIndex& index, const SearchInput& in, Range rows, std::uint32_t most, std::uint32_t* counts) {
  if (in.rounded == nullptr) {
    with_types(in, [&]<class T, std::size_t D>() HWY_ATTR { count<T, D>(index, in, rows, most, counts); });
  } else if (in.precision == Precision::float32) {
    count_by_tiles<float>(index, in, rows, most, counts);
  } else {
    count_by_tiles<double>(index, in, rows, most, counts);
  }
}

void weigh_any(const SearchIndex& index, const SearchInput& in, Range rows, const Weighing& weighing,
               std::uint32_t* counts) {
  with_test(in, [&]<class Test>() HWY_ATTR { weigh<Test>(index, in, rows, weighing, counts); });
}

}  // namespace HWY_NAMESPACE
}  // namespace epsflow::clustering
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace epsflow::clustering {

HWY_EXPORT(count_any);
HWY_EXPORT(weigh_any);

void count_rows(const index::SearchIndex& index, const index::SearchInput& in, Range rows, std::uint32_t most,
                std::uint32_t* counts) {
  HWY_DYNAMIC_DISPATCH(count_any)(index, in, rows, most, counts);
}

void weigh_rows(const index::SearchIndex& index, const index::SearchInput& in, Range rows, const Weighing& weighing,
                std::uint32_t* counts) {
  HWY_DYNAMIC_DISPATCH(weigh_any)(index, in, rows, weighing, counts);
}

}  // namespace epsflow::clustering
#endif
