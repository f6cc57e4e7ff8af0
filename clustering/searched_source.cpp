#include <epsflow/clustering/searched_source.hpp>

#include <epsflow/index/instruction_sets.hpp>
// before any header of Highway
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "epsflow/clustering/searched_source.cpp"  // NOLINT: compiled once per instruction set
#include <hwy/foreach_target.h>
// foreach_target.h must come first
#include <hwy/highway.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <bit>
#include <optional>

#include <epsflow/clustering/parent_filter-inl.hpp>
#include <epsflow/clustering/union_find.hpp>
#include <epsflow/index/candidate_ranges.hpp>
#include <epsflow/index/radix_sort.hpp>
#include <epsflow/index/row_test-inl.hpp>
#include <epsflow/index/tile_test-inl.hpp>

#ifndef EPSFLOW_CLUSTERING_KEYED_PLACE
#define EPSFLOW_CLUSTERING_KEYED_PLACE
namespace epsflow::clustering {

/// A place and the key of the cell that it is in or nearest to.
struct KeyedPlace {
  std::uint64_t key;
  std::uint32_t id;
};

}  // namespace epsflow::clustering
#endif

HWY_BEFORE_NAMESPACE();
namespace epsflow::clustering {
namespace HWY_NAMESPACE {

using index::for_each_bundle;
using index::SearchIndex;
using index::SearchInput;
using index::HWY_NAMESPACE::list_panels;
using index::HWY_NAMESPACE::Panel;
using index::HWY_NAMESPACE::RowTest;
using index::HWY_NAMESPACE::TileRowTest;
using index::HWY_NAMESPACE::with_types;

/// Calls f(row, candidates of its bundle) for all rows, in order.
template <class F>
HWY_INLINE void for_each_row(const SearchIndex& index, Range rows, F f) {
  for_each_bundle(index, rows, [&](Range bundle, std::span<const Range> candidates) HWY_ATTR {
    for (std::uint32_t row = bundle.begin; row < bundle.end; ++row) f(row, candidates);
  });
}

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

/// Calls f(position) for the core neighbours of a row before `end` whose parent was not root() when it was looked up.
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

/// The same by tiles: panels with candidates of other sets are collected until there are enough to keep the processor busy.
/// Some of these candidates may be of root()'s set by the time they are tested, so f must look again.
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

/// Calls f(position) for the neighbours of a row until enough().
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
    WholeWeights::Sum sum = 0;
    for_each_neighbor(
        Test(in, row), candidates, [&] { return sum >= weighing.levels().enough(); },
        [&](std::uint32_t neighbor) { sum += weighing.units()[neighbor]; });
    counts[row] = weighing.count(sum);
  });
}

template <class T, std::size_t D>
void unite(const SearchIndex& index, const SearchInput& in, Range rows, const CoreLevel& level,
           const std::uint32_t* counts, std::uint32_t* parent) {
  const UnionFind sets({parent, index.size()});
  for_each_row(index, rows, [&](std::uint32_t row, std::span<const Range> candidates) HWY_ATTR {
    if (!level.gained(counts[row])) return;
    const RowTest<T, D> test(in, row);
    std::uint32_t root = sets.find(row);
    // Enough at the first level, where all core points are read: the other end of a pair sees it.
    const std::uint32_t end = level.first() ? row : index.size();
    for_each_other(
        test, candidates, end, parent, [&] { return root; },
        [&](std::uint32_t neighbor) {
          if (sets.parent(neighbor) != root) root = sets.unite(root, neighbor);
        });
  });
}

/// Unites R core rows of a bundle, rows[0 … R), with their core neighbours among the candidates.
template <class T, std::size_t R>
class TileUniter {
 public:
  HWY_INLINE TileUniter(const SearchInput& in, const std::uint32_t* rows, const UnionFind& sets,
                        const std::uint32_t* parent)
      : test_(in, [rows](std::size_t r) { return rows[r]; }), sets_(sets), parent_(parent) {
    for (std::size_t r = 0; r < R; ++r) roots_[r] = sets_.find(rows[r]);
    look_at_roots();
  }

  /// Passes over candidates that are of the rows' set already, as far as the rows are of one set.
  HWY_INLINE void visit(Range range, std::uint64_t& open_pairs) {
    for (std::uint64_t first = range.begin - range.begin % 32; first < range.end; first += 32) {
      const std::uint64_t left = range.end - first;
      std::uint32_t all = left >= 32 ? ~0U : (1U << left) - 1;
      if (first < range.begin) all &= ~0U << (range.begin - first);
      const std::uint32_t bits = other_sets(parent_ + first, all, root_);
      if (bits == 0) continue;
      const auto index = static_cast<std::uint32_t>(first / index::RoundedPoints::kPanel);
      add({index, bits & 0xFFFFU}, open_pairs);
      add({index + 1, bits >> 16}, open_pairs);
    }
  }

  HWY_INLINE void finish(std::uint64_t& open_pairs) {
    for (std::size_t i = 0; i < count_; ++i) test_gathered<1>(gathered_ + i, open_pairs);
    count_ = 0;
  }

 private:
  static constexpr std::size_t kMostGathered =
      R > 4 ? index::HWY_NAMESPACE::kTilePanels : 2 * index::HWY_NAMESPACE::kTilePanels;

  HWY_INLINE void add(Panel panel, std::uint64_t& open_pairs) {
    if (panel.wanted == 0) return;
    gathered_[count_++] = panel;
    if (count_ < kMostGathered) return;
    test_gathered<kMostGathered>(gathered_, open_pairs);
    count_ = 0;
  }

  template <std::size_t V>
  HWY_INLINE void test_gathered(const Panel* panels, std::uint64_t& open_pairs) {
    bool united = false;
    test_.template panels<V>(panels, open_pairs, [&](std::size_t r, std::size_t v, std::uint32_t bits) HWY_ATTR {
      for (; bits != 0; bits &= bits - 1) {
        const std::uint32_t neighbor = panels[v].first() + static_cast<std::uint32_t>(__builtin_ctz(bits));
        if (sets_.parent(neighbor) == roots_[r]) continue;
        roots_[r] = sets_.unite(roots_[r], neighbor);
        united = true;
      }
    });
    if (united) look_at_roots();
  }

  void look_at_roots() {
    for (std::size_t r = 0; r < R; ++r) roots_[r] = sets_.find(roots_[r]);
    root_ =
        std::all_of(roots_, roots_ + R, [&](std::uint32_t root) { return root == roots_[0]; }) ? roots_[0] : kNotCore;
  }

  index::HWY_NAMESPACE::TileTest<T, R> test_;
  const UnionFind& sets_;
  const std::uint32_t* parent_;
  std::uint32_t roots_[R];
  std::uint32_t root_ = kNotCore;  ///< of all rows, or kNotCore
  Panel gathered_[kMostGathered];
  std::size_t count_ = 0;
};

/// rows: of one bundle, ascending, R at a time, and what is left by fewer.
template <class T, std::size_t R>
void unite_tiles(const SearchInput& in, std::span<const std::uint32_t> rows, Range bundle,
                 std::span<const Range> candidates, bool lower_half, const UnionFind& sets, const std::uint32_t* parent,
                 std::uint64_t& open_pairs) {
  while (rows.size() >= R) {
    TileUniter<T, R> uniter(in, rows.data(), sets, parent);
    const std::uint32_t end = lower_half ? rows[R - 1] : ~0U;
    // Next to the rows first: once they are of one set, candidates of that set are passed over.
    uniter.visit({bundle.begin, HWY_MIN(bundle.end, end)}, open_pairs);
    for (const Range& range : candidates) {
      if (range.begin < end) uniter.visit({range.begin, HWY_MIN(range.end, end)}, open_pairs);
    }
    uniter.finish(open_pairs);
    rows = rows.subspan(R);
  }
  if constexpr (R > 1) {
    constexpr std::size_t kFewer = R > 4 ? R / 4 : R / 2;
    if (!rows.empty()) unite_tiles<T, kFewer>(in, rows, bundle, candidates, lower_half, sets, parent, open_pairs);
  }
}

template <class T>
void unite_by_tiles(const SearchIndex& index, const SearchInput& in, Range rows, const CoreLevel& level,
                    const std::uint32_t* counts, std::uint32_t* parent) {
  const UnionFind sets({parent, index.size()});
  thread_local std::vector<std::uint32_t> gained;
  std::uint64_t open_pairs = 0;
  for_each_bundle(index, rows, [&](Range bundle, std::span<const Range> candidates) HWY_ATTR {
    gained.clear();
    for (std::uint32_t row = bundle.begin; row < bundle.end; ++row) {
      if (level.gained(counts[row])) gained.push_back(row);
    }
    unite_tiles<T, index::HWY_NAMESPACE::kTileRows>(in, gained, bundle, candidates, level.first(), sets, parent,
                                                    open_pairs);
  });
  if (open_pairs != 0) in.rounded->add_open_pairs(open_pairs);
}

template <class Test>
void find(const SearchIndex& index, const SearchInput& in, Range rows, const std::uint32_t* cluster_of,
          std::uint32_t* clusters) {
  for_each_row(index, rows, [&](std::uint32_t row, std::span<const Range> candidates) HWY_ATTR {
    std::uint32_t& cluster = clusters[row - rows.begin];
    cluster = cluster_of[row];
    if (cluster != kNoCluster) return;
    const Test test(in, row);
    for_each_other(
        test, candidates, index.size(), cluster_of, [&] { return cluster; },
        [&](std::uint32_t neighbor) { cluster = HWY_MIN(cluster, cluster_of[neighbor]); });
  });
}

/// places: sorted by key. points: [dims] of each id.
template <class T, std::size_t D>
void find_at(const index::Grid& grid, const SearchInput& in, std::span<const KeyedPlace> places, const double* points,
             const std::uint32_t* cluster_of, std::uint32_t* clusters) {
  index::BundleWalk walk;
  std::uint64_t key = ~std::uint64_t{0};
  for (const KeyedPlace& place : places) {
    std::uint32_t& cluster = clusters[place.id];
    cluster = kNoCluster;
    if (place.key == index::Grid::kNowhere) continue;
    if (place.key != key) grid.find_ranges_at(key = place.key, walk);
    for_each_other(
        RowTest<T, D>(in, points + std::size_t{place.id} * D), walk.ranges, grid.size(), cluster_of,
        [&] { return cluster; }, [&](std::uint32_t p) { cluster = HWY_MIN(cluster, cluster_of[p]); });
  }
}

/// The same by tiles of rows.
template <class T>
void count_by_tiles(const SearchIndex& index, const SearchInput& in, Range rows, std::uint32_t most,
                    std::uint32_t* counts) {
  for_each_bundle(index, rows, [&](Range bundle, std::span<const Range> candidates) HWY_ATTR {
    index::HWY_NAMESPACE::count_up_to<T>(in, bundle, candidates, most, counts + bundle.begin);
  });
}

/// Calls f.template operator()<Test>() with the test of a row that suits the input.
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

void unite_any(const SearchIndex& index, const SearchInput& in, Range rows, const CoreLevel& level,
               const std::uint32_t* counts, std::uint32_t* parent) {
  if (in.rounded == nullptr) {
    with_types(in, [&]<class T, std::size_t D>() HWY_ATTR { unite<T, D>(index, in, rows, level, counts, parent); });
  } else if (in.precision == Precision::float32) {
    unite_by_tiles<float>(index, in, rows, level, counts, parent);
  } else {
    unite_by_tiles<double>(index, in, rows, level, counts, parent);
  }
}

void find_any(const SearchIndex& index, const SearchInput& in, Range rows, const std::uint32_t* cluster_of,
              std::uint32_t* clusters) {
  with_test(in, [&]<class Test>() HWY_ATTR { find<Test>(index, in, rows, cluster_of, clusters); });
}

void find_at_any(const index::Grid& grid, const SearchInput& in, std::span<const KeyedPlace> places,
                 const double* points, const std::uint32_t* cluster_of, std::uint32_t* clusters) {
  with_types(in, [&]<class T, std::size_t D>() HWY_ATTR {
    if constexpr (D > 0 && D <= index::kMostIndexedDims) find_at<T, D>(grid, in, places, points, cluster_of, clusters);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace epsflow::clustering
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace epsflow::clustering {
namespace {

HWY_EXPORT(count_any);
HWY_EXPORT(weigh_any);
HWY_EXPORT(unite_any);
HWY_EXPORT(find_any);
HWY_EXPORT(find_at_any);

/// Ends of blocks need not be ends of bundles: a block of one bundle of many points would keep one thread busy for long.
constexpr std::uint32_t kBlockRows = 1024;

}  // namespace

SearchedSource::SearchedSource(const index::SearchIndex& index, const index::RowSearch& rows,
                               std::span<const std::uint32_t> minpts, const CancelToken& cancel,
                               const WholeWeights* weights)
    : index_(index), search_(rows), counts_(index.size()) {
  for (std::uint32_t first = 0; first < index.size();) {
    const Range block{first, first + std::min(kBlockRows, index.size() - first)};
    blocks_.push_back({block, block});
    first = block.end;
  }
  std::optional<const Weighing> weighing;
  if (weights != nullptr) weighing.emplace(*weights, minpts, order(), ghosts());
  tbb::parallel_for(std::size_t{0}, blocks_.size(), [&](std::size_t b) {
    if (cancel.cancelled()) return;
    if (weighing) {
      HWY_DYNAMIC_DISPATCH(weigh_any)(index_, search_.input(), blocks_[b].rows, *weighing, counts_.data());
    } else {
      HWY_DYNAMIC_DISPATCH(count_any)(index_, search_.input(), blocks_[b].rows, minpts.front(), counts_.data());
    }
  });
  cancel.check();
}

void SearchedSource::mark_core(const ClusterBlock& block, const CoreLevel& level, std::uint32_t* parent) {
  for (std::uint32_t x = block.rows.begin; x < block.rows.end; ++x) {
    if (level.gained(counts_[x])) parent[x] = x;
  }
}

void SearchedSource::unite(const ClusterBlock& block, const CoreLevel& level, unsigned, std::uint32_t* parent) {
  HWY_DYNAMIC_DISPATCH(unite_any)(index_, search_.input(), block.rows, level, counts_.data(), parent);
}

void SearchedSource::find_clusters(const ClusterBlock& block, const NumberedLevels& levels, std::uint32_t* clusters,
                                   std::uint32_t* core) const {
  const Range rows = block.rows;
  HWY_DYNAMIC_DISPATCH(find_any)(index_, search_.input(), rows, levels.clusters, clusters);
  *core = rows.size() -
          static_cast<std::uint32_t>(std::count(levels.clusters + rows.begin, levels.clusters + rows.end, kNoCluster));
}

bool finds_clusters_at(const index::Grid& grid) noexcept {
  return grid.dims() <= index::kMostIndexedDims && grid.finds_places();
}

void find_lowest_clusters_at(const index::Grid& grid, const index::RowSearch& rows, const std::uint32_t* cluster_of,
                             std::span<const double> places, std::uint32_t* clusters, const CancelToken& cancel) {
  const std::size_t n = places.size() / grid.dims();
  Buffer<KeyedPlace> keyed(n), spare(n);
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, n, kBlockRows), [&](const auto& range) {
    for (std::size_t i = range.begin(); i < range.end(); ++i) {
      keyed[i] = {grid.key_at(places.data() + i * grid.dims()), static_cast<std::uint32_t>(i)};
    }
  });
  cancel.check();
  const auto bits = static_cast<unsigned>(std::bit_width(grid.keys().count - 1));
  const std::span<const KeyedPlace> sorted = index::radix_sort(
      keyed.span(), spare.span(), bits, [](const KeyedPlace& place) { return place.key; }, cancel);
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, n, kBlockRows), [&](const auto& range) {
    if (cancel.cancelled()) return;
    HWY_DYNAMIC_DISPATCH(find_at_any)
    (grid, rows.input(), sorted.subspan(range.begin(), range.size()), places.data(), cluster_of, clusters);
  });
  cancel.check();
}

void find_lowest_clusters(const index::SearchIndex& index, const index::RowSearch& rows,
                          const std::uint32_t* cluster_of, std::uint32_t* clusters, const CancelToken& cancel) {
  const std::size_t blocks = (std::size_t{index.size()} + kBlockRows - 1) / kBlockRows;
  tbb::parallel_for(std::size_t{0}, blocks, [&](std::size_t b) {
    if (cancel.cancelled()) return;
    const auto first = static_cast<std::uint32_t>(b * kBlockRows);
    const Range block{first, first + std::min(kBlockRows, index.size() - first)};
    HWY_DYNAMIC_DISPATCH(find_any)(index, rows.input(), block, cluster_of, clusters + first);
  });
  cancel.check();
}

}  // namespace epsflow::clustering
#endif
