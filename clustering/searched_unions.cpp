#include <epsflow/clustering/searched_loops.hpp>

#include <epsflow/index/instruction_sets.hpp>
// Must come before any header of Highway.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "epsflow/clustering/searched_unions.cpp"  // NOLINT: compiled once per instruction set
#include <hwy/foreach_target.h>
// foreach_target.h must come first
#include <hwy/highway.h>

#include <algorithm>
#include <vector>

#include <epsflow/clustering/searched_loops-inl.hpp>
#include <epsflow/clustering/union_find.hpp>

HWY_BEFORE_NAMESPACE();
namespace epsflow::clustering {
namespace HWY_NAMESPACE {

template <class T, std::size_t D>
void unite(const SearchIndex& index, const SearchInput& in, Range rows, const CoreLevel& level,
           const std::uint32_t* counts, std::uint32_t* parent) {
  const UnionFind sets({parent, index.size()});
  for_each_row(index, rows, [&](std::uint32_t row, std::span<const Range> candidates) HWY_ATTR {
    if (!level.gained(counts[row])) return;
    const RowTest<T, D> test(in, row);
    std::uint32_t root = sets.find(row);
    // Sufficient at the first level, at which all core points are read: the row of the other point has the pair too.
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
    update_roots();
  }

  /// Skips candidates that are already in the rows' set, if the rows are in one set.
  HWY_INLINE void visit(Range range, std::uint64_t& undecided_pairs) {
    for (std::uint64_t first = range.begin - range.begin % 32; first < range.end; first += 32) {
      const std::uint64_t left = range.end - first;
      std::uint32_t all = left >= 32 ? ~0U : (1U << left) - 1;
      if (first < range.begin) all &= ~0U << (range.begin - first);
      const std::uint32_t bits = other_sets(parent_ + first, all, root_);
      if (bits == 0) continue;
      const auto index = static_cast<std::uint32_t>(first / index::RoundedPoints::kPanel);
      add({index, bits & 0xFFFFU}, undecided_pairs);
      add({index + 1, bits >> 16}, undecided_pairs);
    }
  }

  HWY_INLINE void finish(std::uint64_t& undecided_pairs) {
    for (std::size_t i = 0; i < count_; ++i) test_gathered<1>(gathered_ + i, undecided_pairs);
    count_ = 0;
  }

 private:
  static constexpr std::size_t kMostGathered =
      R > 4 ? index::HWY_NAMESPACE::kTilePanels : 2 * index::HWY_NAMESPACE::kTilePanels;

  HWY_INLINE void add(Panel panel, std::uint64_t& undecided_pairs) {
    if (panel.wanted == 0) return;
    gathered_[count_++] = panel;
    if (count_ < kMostGathered) return;
    test_gathered<kMostGathered>(gathered_, undecided_pairs);
    count_ = 0;
  }

  template <std::size_t V>
  HWY_INLINE void test_gathered(const Panel* panels, std::uint64_t& undecided_pairs) {
    bool united = false;
    test_.template panels<V>(panels, undecided_pairs, [&](std::size_t r, std::size_t v, std::uint32_t bits) HWY_ATTR {
      for (; bits != 0; bits &= bits - 1) {
        const std::uint32_t neighbor = panels[v].first() + static_cast<std::uint32_t>(__builtin_ctz(bits));
        if (sets_.parent(neighbor) == roots_[r]) continue;
        roots_[r] = sets_.unite(roots_[r], neighbor);
        united = true;
      }
    });
    if (united) update_roots();
  }

  void update_roots() {
    for (std::size_t r = 0; r < R; ++r) roots_[r] = sets_.find(roots_[r]);
    root_ =
        std::all_of(roots_, roots_ + R, [&](std::uint32_t root) { return root == roots_[0]; }) ? roots_[0] : kNotCore;
  }

  index::HWY_NAMESPACE::TileTest<T, R> test_;
  const UnionFind& sets_;
  const std::uint32_t* parent_;
  std::uint32_t roots_[R];
  std::uint32_t root_ = kNotCore;  ///< root of all rows, or kNotCore if they are in several sets
  Panel gathered_[kMostGathered];
  std::size_t count_ = 0;
};

/// Unites rows of one bundle, ascending, R at a time, and the remaining ones fewer at a time.
template <class T, std::size_t R>
void unite_tiles(  // NOLINT(readability-function-size): a kernel
    const SearchInput& in, std::span<const std::uint32_t> rows, Range bundle, std::span<const Range> candidates,
    bool lower_half, const UnionFind& sets, const std::uint32_t* parent, std::uint64_t& undecided_pairs) {
  while (rows.size() >= R) {
    TileUniter<T, R> uniter(in, rows.data(), sets, parent);
    const std::uint32_t end = lower_half ? rows[R - 1] : ~0U;
    // Candidates next to the rows come first: once the rows are in one set, candidates of that set are skipped.
    uniter.visit({bundle.begin, HWY_MIN(bundle.end, end)}, undecided_pairs);
    for (const Range& range : candidates) {
      if (range.begin < end) uniter.visit({range.begin, HWY_MIN(range.end, end)}, undecided_pairs);
    }
    uniter.finish(undecided_pairs);
    rows = rows.subspan(R);
  }
  if constexpr (R > 1) {
    constexpr std::size_t kFewer = R > 4 ? R / 4 : R / 2;
    if (!rows.empty()) unite_tiles<T, kFewer>(in, rows, bundle, candidates, lower_half, sets, parent, undecided_pairs);
  }
}

template <class T>
void unite_by_tiles(const SearchIndex& index, const SearchInput& in, Range rows, const CoreLevel& level,
                    const std::uint32_t* counts, std::uint32_t* parent) {
  const UnionFind sets({parent, index.size()});
  thread_local std::vector<std::uint32_t> gained;
  std::uint64_t undecided_pairs = 0;
  for_each_bundle(index, rows, [&](Range bundle, std::span<const Range> candidates) HWY_ATTR {
    gained.clear();
    for (std::uint32_t row = bundle.begin; row < bundle.end; ++row) {
      if (level.gained(counts[row])) gained.push_back(row);
    }
    unite_tiles<T, index::HWY_NAMESPACE::kTileRows>(in, gained, bundle, candidates, level.first(), sets, parent,
                                                    undecided_pairs);
  });
  if (undecided_pairs != 0) in.rounded->add_undecided_pairs(undecided_pairs);
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

}  // namespace HWY_NAMESPACE
}  // namespace epsflow::clustering
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace epsflow::clustering {

HWY_EXPORT(unite_any);

void unite_rows(const index::SearchIndex& index, const index::SearchInput& in, Range rows, const CoreLevel& level,
                const std::uint32_t* counts, std::uint32_t* parent) {
  HWY_DYNAMIC_DISPATCH(unite_any)(index, in, rows, level, counts, parent);
}

}  // namespace epsflow::clustering
#endif
