#include <epsflow/clustering/row_loops.hpp>

#include <epsflow/index/instruction_sets.hpp>
// Must come before any header of Highway.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "epsflow/clustering/row_loops.cpp"  // NOLINT: compiled once per instruction set
#include <hwy/foreach_target.h>
// foreach_target.h must come first
#include <hwy/highway.h>

#include <epsflow/clustering/parent_filter-inl.hpp>

HWY_BEFORE_NAMESPACE();
namespace epsflow::clustering {
namespace HWY_NAMESPACE {

struct RowUniter {
  UnionFind sets;
  const std::uint32_t* parent;
  bool lower_half;

  HWY_INLINE std::uint32_t unite_with(std::uint32_t root, std::uint32_t neighbor) const {
    const std::uint32_t p = sets.parent(neighbor);
    return p == root || p == kNotCore ? root : sets.unite(root, neighbor);
  }

  HWY_INLINE void packed(std::uint32_t row, const RowView& view) const {
    std::uint32_t root = sets.find(row);
    const std::uint32_t* word = view.words;
    for (const Range& range : view.ranges) {
      if (lower_half && range.begin >= row) return;
      const std::uint32_t end = lower_half ? HWY_MIN(range.end, row) : range.end;
      for (std::uint64_t base = range.begin; base < end; base += 32) {
        std::uint32_t bits = *word++;
        if (end - base < 32) bits &= (1U << (end - base)) - 1;
        if (bits == 0) continue;
        for (bits = other_sets(parent + base, bits, root); bits != 0; bits &= bits - 1) {
          root = unite_with(root, static_cast<std::uint32_t>(base) + static_cast<std::uint32_t>(__builtin_ctz(bits)));
        }
      }
      // Only the last range that is read is cut, so the words of the next range begin at the end of this one.
    }
  }

  HWY_INLINE void csr(std::uint32_t row, const RowView& view) const {
    std::uint32_t root = sets.find(row);
    for (std::uint32_t k = 0; k < view.count; ++k) {
      if (lower_half && view.words[k] >= row) continue;
      root = unite_with(root, view.words[k]);
    }
  }
};

void unite(const NeighborTable& table, Range rows, const CoreLevel& level, const std::uint32_t* counts,
           std::uint32_t* parent) {
  const RowUniter uniter{UnionFind({parent, table.size()}), parent, level.first()};
  table.for_each_row(rows, [&](std::uint32_t row, const RowView& view) HWY_ATTR {
    if (!level.gained(counts[row])) return;
    if (view.packed) {
      uniter.packed(row, view);
    } else {
      uniter.csr(row, view);
    }
  });
}

/// Finds the lowest cluster among a row's core neighbours. Neighbours mostly share one cluster, so only clusters that
/// differ from the lowest so far are compared.
struct BorderFinder {
  static_assert(kNoCluster == kNotCore, "the filter of parents serves clusters, too");
  const std::uint32_t* cluster_of;

  HWY_INLINE std::uint32_t packed(const RowView& view) const {
    std::uint32_t lowest = kNoCluster;
    const std::uint32_t* word = view.words;
    for (const Range& range : view.ranges) {
      for (std::uint64_t base = range.begin; base < range.end; base += 32) {
        if (*word++ == 0) continue;
        for (std::uint32_t bits = other_sets(cluster_of + base, word[-1], lowest); bits != 0; bits &= bits - 1) {
          lowest = HWY_MIN(lowest, cluster_of[base + static_cast<std::uint32_t>(__builtin_ctz(bits))]);
        }
      }
    }
    return lowest;
  }

  HWY_INLINE std::uint32_t csr(const RowView& view) const {
    std::uint32_t lowest = kNoCluster;
    for (std::uint32_t k = 0; k < view.count; ++k) lowest = HWY_MIN(lowest, cluster_of[view.words[k]]);
    return lowest;
  }
};

void find(const NeighborTable& table, Range rows, const std::uint32_t* cluster_of, std::uint32_t* clusters) {
  const BorderFinder finder{cluster_of};
  table.for_each_row(rows, [&](std::uint32_t row, const RowView& view) HWY_ATTR {
    std::uint32_t& cluster = clusters[row - rows.begin];
    cluster = cluster_of[row];
    if (cluster == kNoCluster) cluster = view.packed ? finder.packed(view) : finder.csr(view);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace epsflow::clustering
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace epsflow::clustering {

HWY_EXPORT(unite);
HWY_EXPORT(find);

void unite_rows(const NeighborTable& table, Range rows, const CoreLevel& level, const std::uint32_t* counts,
                std::uint32_t* parent) {
  HWY_DYNAMIC_DISPATCH(unite)(table, rows, level, counts, parent);
}

void find_clusters(const NeighborTable& table, Range rows, const std::uint32_t* cluster_of, std::uint32_t* clusters) {
  HWY_DYNAMIC_DISPATCH(find)(table, rows, cluster_of, clusters);
}

}  // namespace epsflow::clustering
#endif
