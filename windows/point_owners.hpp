// The owners of the points of a window: the groups of cells whose core points they are, or are near to.
//
// A group has one number or, if groups were joined, several. Core and border points are counted for each number, and
// the counts of a group are the sums over its numbers. A count changes when a point changes its owner, so that the pass
// over the rows only writes labels.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <epsflow/clustering/cluster_matching.hpp>
#include <epsflow/clustering/device_window.hpp>
#include <epsflow/core/labels.hpp>
#include <epsflow/core/parallel.hpp>
#include <epsflow/windows/cell_groups.hpp>

namespace epsflow::windows {

/// The handles of the rows, and the labels and core marks that PointOwners::read() writes for them.
struct RowOutput {
  std::span<const std::uint32_t> handles;  ///< [n]
  std::span<std::int32_t> labels;          ///< [n]
  std::span<std::uint8_t> core;            ///< [n]
};

class PointOwners {
 public:
  /// Groups that own a border point together. Core points of different groups near one point are farther from each
  /// other than from it, so there are at most 2 on a line, 5 in the plane and 12 in space.
  struct Several {
    std::array<std::uint32_t, 15> groups;
    std::uint32_t count = 0;
  };

  /// Allocates the owners of the handles from 0 to `handles` − 1. New handles have no owner.
  void resize(std::size_t handles) { owners_.resize(handles, kNobody); }

  [[nodiscard]] bool is_core(std::uint32_t handle) const noexcept { return is_core_owner(owners_[handle]); }
  [[nodiscard]] bool has_owner(std::uint32_t handle) const noexcept { return owners_[handle] != kNobody; }
  /// Returns true if the point is a border point that a single group owns, and `root` is the root of this group.
  /// groups: flattened.
  [[nodiscard]] bool is_border_of(std::uint32_t handle, std::uint32_t root, const CellGroups& groups) const noexcept {
    return owners_[handle] < kNobody && groups.root(owners_[handle]) == root;
  }

  /// Must be called before the owners of a step are set. groups: CellGroups::size().
  void begin(std::size_t groups) {
    of_group_.resize(groups);
    moved_.clear();
  }
  void set_core(std::uint32_t handle, std::uint32_t group) { set(handle, group | kCore); }
  void set_border(std::uint32_t handle, std::uint32_t group) { set(handle, group); }
  void set_noise(std::uint32_t handle) { set(handle, kNobody); }
  void set_border(std::uint32_t handle, const Several& owners) {
    auto index = static_cast<std::uint32_t>(several_.size());
    if (free_several_.empty()) {
      several_.emplace_back();
    } else {
      index = free_several_.back();
      free_several_.pop_back();
    }
    several_[index] = owners;
    set(handle, index | kSeveral);
  }

  /// Gives new numbers to the groups that own core points, by CellGroups::rename(), and returns its result.
  std::vector<std::uint32_t> rename(CellGroups& groups) {
    groups.flatten();
    std::vector<OfGroup> sums(groups.size());
    for (std::uint32_t g = 0; g < sums.size(); ++g) {
      OfGroup& sum = sums[groups.root(g)];
      sum.core += of_group_[g].core;
      sum.borders += of_group_[g].borders;
      sum.last_label = of_group_[groups.root(g)].last_label;
    }
    std::vector<std::uint32_t> names = groups.rename([&](std::uint32_t root) { return sums[root].core > 0; });
    of_group_.assign(groups.size(), {});
    for (std::uint32_t g = 0; g < sums.size(); ++g) {
      if (sums[g].core > 0) of_group_[names[g]] = sums[g];
    }
    parallel_ranges(owners_.size(), kPiece, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        std::uint32_t& owner = owners_[i];
        if ((owner & kSeveral) == 0 && owner != kNobody) owner = names[index_of(owner)] | (owner & kCore);
      }
    });
    for (Several& owners : several_) {
      for (std::uint32_t i = 0; i < owners.count; ++i) owners.groups[i] = names[owners.groups[i]];
    }
    return names;
  }

  /// Numbers the clusters by the first row of their core points, and writes the label and core mark of each row.
  /// Returns the clusters, and how many core points they share with the clusters before the step. groups: flattened.
  /// earlier: the number of clusters before the step. Must be called once for each step. O(n).
  [[nodiscard]] CountedClusters read(const RowOutput& rows, const CellGroups& groups, std::size_t earlier) {
    CountedClusters counted;
    std::vector<std::int32_t> labels(groups.size(), kNoise);
    for (const auto& [group, row] : first_rows(rows.handles)) {
      std::int32_t& label = labels[groups.root(group)];
      if (label != kNoise) continue;
      label = static_cast<std::int32_t>(counted.clusters.size());
      counted.clusters.push_back({row, 0, 0});
    }
    for (std::uint32_t g = 0; g < labels.size(); ++g) labels[g] = labels[groups.root(g)];
    // One table for all owners: groups, nobody, and several, so that no branch depends on the owner.
    const auto count = static_cast<std::uint32_t>(labels.size());
    std::vector<std::int32_t> table = labels;
    table.push_back(kNoise);
    for (const Several& owners : several_) table.push_back(lowest_label(owners, labels));
    parallel_ranges(rows.handles.size(), kPiece, [&](std::size_t begin, std::size_t end) {
      // A local pointer stays in a register. For the compiler, writes to the bytes of `core` may change owners_.
      const std::uint32_t* const owners = owners_.data();
      const std::int32_t* const label_at = table.data();
      std::int32_t* const out = rows.labels.data();
      for (std::size_t i = begin; i < end; ++i) {
        const std::uint32_t owner = owners[rows.handles[i]], index = index_of(owner);
        rows.core[i] = static_cast<std::uint8_t>(owner >> 31);
        out[i] = label_at[(owner & kSeveral) != 0 ? count + 1 + index : std::min(index, count)];
      }
    });
    count_points(labels, std::span(table).subspan(count + 1), earlier, counted);
    return counted;
  }

  [[nodiscard]] std::uint64_t bytes() const noexcept {
    return owners_.capacity() * sizeof(std::uint32_t) + of_group_.capacity() * sizeof(OfGroup) +
           several_.capacity() * sizeof(Several);
  }

 private:
  // An owner is the number of a group, or the index of several in several_; or nobody owns the point.
  static constexpr std::uint32_t kCore = 1U << 31, kSeveral = 1U << 30, kNobody = kSeveral - 1;
  static constexpr std::size_t kPiece = 1 << 14;

  /// The numbers of points that a group owns.
  struct OfGroup {
    std::uint32_t core = 0;
    std::uint32_t came = 0;     ///< of these: points that another group owned before the step, or that were not core
    std::uint32_t borders = 0;  ///< points of several groups are not counted
    std::int32_t last_label = kNoise;
  };

  [[nodiscard]] static bool is_core_owner(std::uint32_t owner) noexcept { return (owner & kCore) != 0; }
  [[nodiscard]] static std::uint32_t index_of(std::uint32_t owner) noexcept { return owner & kNobody; }

  void set(std::uint32_t handle, std::uint32_t owner) {
    const std::uint32_t before = std::exchange(owners_[handle], owner);
    if (is_core_owner(before)) {
      --of_group_[index_of(before)].core;
    } else if ((before & kSeveral) != 0) {
      several_[index_of(before)].count = 0;
      free_several_.push_back(index_of(before));
    } else if (before != kNobody) {
      --of_group_[before].borders;
    }
    if (is_core_owner(owner)) {
      ++of_group_[index_of(owner)].core;
      ++of_group_[index_of(owner)].came;
      if (is_core_owner(before)) moved_.emplace_back(index_of(before), index_of(owner));
    } else if (owner < kNobody) {
      ++of_group_[owner].borders;
    }
  }

  /// Returns groups and rows of core points that they own, by row; among these the first row of each cluster.
  [[nodiscard]] std::vector<std::pair<std::uint32_t, std::uint32_t>> first_rows(
      std::span<const std::uint32_t> rows) const {
    // Each piece lists most groups anew, and a group costs as much as some rows. Therefore the size of a piece grows
    // with the number of groups.
    const std::size_t piece = std::max<std::size_t>(1 << 18, 4 * of_group_.size());
    std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> found((rows.size() + piece - 1) / piece);
    parallel_for(found.size(), [&](std::size_t p) {
      const auto groups = static_cast<std::uint32_t>(of_group_.size());
      const std::uint32_t* const owners = owners_.data();
      std::vector<std::uint8_t> seen(groups + 1);
      // The last mark is the mark of all points that are not core. Only the first row of a group gets past `continue`.
      seen.back() = 1;
      const std::size_t end = std::min(rows.size(), (p + 1) * piece);
      for (std::size_t i = p * piece; i < end; ++i) {
        const std::uint32_t owner = owners[rows[i]];
        const std::uint32_t others = (owner >> 31) - 1;  // all bits if it is not core
        std::uint8_t& mark = seen[std::min(index_of(owner | others), groups)];
        if (mark != 0) continue;
        mark = 1;
        found[p].emplace_back(index_of(owner), static_cast<std::uint32_t>(i));
      }
    });
    std::vector<std::pair<std::uint32_t, std::uint32_t>> all;
    for (const auto& some : found) all.insert(all.end(), some.begin(), some.end());
    return all;
  }

  [[nodiscard]] static std::int32_t lowest_label(const Several& owners, std::span<const std::int32_t> labels) {
    std::int32_t lowest = owners.count == 0 ? kNoise : labels[owners.groups[0]];
    for (std::uint32_t k = 1; k < owners.count; ++k) lowest = std::min(lowest, labels[owners.groups[k]]);
    return lowest;
  }

  /// Counts the points of the clusters, and the core points that they share with clusters before the step. labels: of
  /// each number of a group. lowest: of each of several_.
  void count_points(std::span<const std::int32_t> labels, std::span<const std::int32_t> lowest, std::size_t earlier,
                    CountedClusters& counted) {
    SharedCoreCounter shared(earlier);
    const auto share = [&](std::int32_t before, std::int32_t after, std::uint32_t points) {
      if (before == kNoise || points == 0) return;
      shared.add(static_cast<std::uint32_t>(before), static_cast<std::uint32_t>(after), points);
    };
    for (std::size_t g = 0; g < labels.size(); ++g) {
      if (labels[g] == kNoise) continue;
      const OfGroup& group = of_group_[g];
      ClusterCounts& cluster = counted.clusters[static_cast<std::size_t>(labels[g])];
      cluster.core += group.core;
      cluster.borders += group.borders;
      share(group.last_label, labels[g], group.core - group.came);
    }
    for (const auto& [before, after] : moved_) share(of_group_[before].last_label, labels[after], 1);
    for (std::size_t i = 0; i < lowest.size(); ++i) {
      if (several_[i].count > 0) ++counted.clusters[static_cast<std::size_t>(lowest[i])].borders;
    }
    for (std::size_t g = 0; g < labels.size(); ++g) {
      of_group_[g].came = 0;
      of_group_[g].last_label = labels[g];
    }
    counted.shared = std::move(shared).take();
  }

  std::vector<std::uint32_t> owners_;  ///< of each handle
  std::vector<Several> several_;       ///< those without groups are listed in free_several_
  std::vector<std::uint32_t> free_several_;
  std::vector<OfGroup> of_group_;

  /// The groups before and after of the points that were core before the step, and have another owner.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> moved_;
};

}  // namespace epsflow::windows
