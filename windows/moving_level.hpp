// The clusters of one minpts in the cells of a window, which are updated as points come and go.
//
// Core points of one cell are neighbours, so they are in one cluster, and it suffices to join cells. Stored between
// steps: which cells are linked, as they hold core points that are neighbours; a group for each cell with core points,
// so that linked cells are in one group; and the owner of each point, which is a group. Only links, groups and owners
// near changes are found again. New links join groups. If links are lost, searches from both ends go on in turns until
// they meet; if one of them ends before, its cells are a group of their own.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <epsflow/clustering/cells_within.hpp>
#include <epsflow/core/parallel.hpp>
#include <epsflow/windows/cell_groups.hpp>
#include <epsflow/windows/moving_cells.hpp>
#include <epsflow/windows/point_owners.hpp>

namespace epsflow::windows {

template <std::size_t D>
class MovingLevel {
 public:
  /// A border point, and its group.
  struct Border {
    std::uint32_t handle;
    std::uint32_t group;
  };
  /// A border point of several groups.
  struct SharedBorder {
    std::uint32_t handle;
    PointOwners::Several groups;
  };
  /// Two cells, or a handle and the cell of its point.
  using Pair = std::pair<std::uint32_t, std::uint32_t>;
  /// The cells that a cell is linked to, as bits of their numbers around it.
  using Links = std::array<std::uint64_t, (kAround<D> + 63) / 64>;
  using Touched = typename MovingCells<D>::Touched;
  /// A point that became core, or is core no longer, or was and left.
  struct Flip {
    std::array<double, D> x;
    std::uint32_t cell;
  };
  /// The links before the step of a cell that lost core points.
  struct Lost {
    std::uint32_t cell;
    Links links;
  };
  /// What changed in a step.
  struct Lists {
    std::vector<std::uint32_t> changed;  ///< blocks with cells whose core points changed
    std::vector<Pair> fresh;             ///< points that became core
    std::vector<Flip> flips;
    std::vector<Touched> unresolved;  ///< points that are not core, and may have other owners
    std::vector<Lost> lost;
    std::vector<Pair> linked;         ///< two cells that became linked
    std::vector<std::uint32_t> ends;  ///< cells at both ends of where groups may have fallen apart
    std::vector<Pair> moved;          ///< points that stay core, whose cell is in another group
    std::vector<Border> borders;      ///< points that became border points of this single group
    std::vector<SharedBorder> shared_borders;
    std::vector<std::uint32_t> noise;  ///< handles of points that had an owner, and are noise now or left

    void append(const Lists& more) {
      each(more, [](auto& all, const auto& some) { all.insert(all.end(), some.begin(), some.end()); });
    }
    /// Keeps the memory.
    void clear() {
      each(*this, [](auto& all, const auto&) { all.clear(); });
    }

   private:
    template <class F>
    void each(const Lists& other, F&& f) {
      f(changed, other.changed);
      f(fresh, other.fresh);
      f(flips, other.flips);
      f(unresolved, other.unresolved);
      f(lost, other.lost);
      f(linked, other.linked);
      f(ends, other.ends);
      f(moved, other.moved);
      f(borders, other.borders);
      f(shared_borders, other.shared_borders);
      f(noise, other.noise);
    }
  };

  MovingLevel(const MovingCells<D>& cells, std::uint32_t minpts) : cells_(cells), minpts_(minpts) {}

  /// Begins a step, after MovingCells::change(). handles: all handles are less.
  void begin(std::size_t handles) {
    of_block_.resize(cells_.blocks());
    const std::size_t cells = cells_.blocks() * kBlockCells;
    links_.resize(cells, {});
    core_.resize(cells, 0);
    group_.resize(cells, kNone);
    seen_.resize(cells, kNone);
    unresolved_.resize(cells_.points(), 0);
    owners_.resize(handles);
    if (groups_.size() >= 3 * clusters_ + 4096) rename_groups();
  }

  /// Finds which points of an affected block are core now, and appends the changes to `lists`. touched: from
  /// MovingCells::count() for the block. Several threads may do so for different blocks.
  void find_core(std::uint32_t b, std::span<const Touched> touched, Lists& lists) {
    LevelBlock& block = of_block_[b];
    const auto lose = [&](std::uint32_t c, const std::array<double, D>& x) {
      block.lost |= bit(c);
      --core_[c];
      lists.flips.push_back({x, c});
    };
    for (const auto& change : cells_.changes(b)) {
      if (change.arrives) continue;
      if (owners_.is_core(change.handle)) lose(change.cell, change.x);
      if (owners_.has_owner(change.handle)) lists.noise.push_back(change.handle);
    }
    for (const auto& [c, i, arrived] : touched) {
      const auto& point = cells_.point(i);
      const bool was = owners_.is_core(point.handle);
      if (cells_.is_core(c, i, minpts_)) {
        if (was) continue;
        block.gained |= bit(c);
        ++core_[c];
        lists.fresh.emplace_back(point.handle, c);
        lists.flips.push_back({point.x, c});
        continue;
      }
      if (was) lose(c, point.x);
      if (was || arrived) add_unresolved({c, i}, lists);
    }
    if ((block.gained | block.lost) == 0) return;
    lists.changed.push_back(b);
    for_each_in(block.gained | block.lost, [&](std::uint32_t cell) {
      const std::uint64_t mask = std::uint64_t{1} << cell;
      block.has_core = core_[b * kBlockCells + cell] > 0 ? block.has_core | mask : block.has_core & ~mask;
    });
    for_each_in(block.lost, [&](std::uint32_t cell) {
      lists.lost.push_back({b * kBlockCells + cell, links_[b * kBlockCells + cell]});
    });
  }
  /// Adds lists that find_core() filled. Thread-safe.
  void append(const Lists& more) {
    const std::scoped_lock lock(mutex_);
    lists_.append(more);
  }

  /// Brings links, groups and owners up to date, after find_core() for all affected blocks and append() of its lists.
  void resolve() {
    for_each_of(lists_.changed, [&](std::uint32_t b, Lists& lists) {
      for_each_in(of_block_[b].gained | of_block_[b].lost,
                  [&](std::uint32_t cell) { update_links(b * kBlockCells + cell, lists); });
    });
    for_each_of(lists_.lost, [&](const Lost& lost, Lists& lists) { find_ends(lost, lists.ends); });
    for_each_of(lists_.flips, [&](const Flip& flip, Lists& lists) { add_unresolved_near(flip, lists); });
    resolve_groups();
    groups_.flatten();
    for_each_of(lists_.unresolved, [&](const Touched& point, Lists& lists) { resolve_point(point, lists); });
    set_owners();
  }

  /// Forgets the changes of the step. The clusters stay as they are.
  void end() {
    for (const std::uint32_t b : lists_.changed) of_block_[b].gained = of_block_[b].lost = 0;
    for (const Touched& point : lists_.unresolved) unresolved_[point.point] = 0;
    lists_.clear();
  }

  /// Numbers the clusters by the first row of their core points, and writes the label and core mark of each row.
  /// Returns the clusters, and how many core points they share with the clusters before the step. earlier: the number
  /// of clusters before the step. Must be called once for each step, after resolve(). O(n).
  [[nodiscard]] CountedClusters read(const RowOutput& rows, std::size_t earlier) {
    CountedClusters counted = owners_.read(rows, groups_, earlier);
    clusters_ = counted.clusters.size();
    return counted;
  }

  [[nodiscard]] std::uint64_t bytes() const noexcept {
    return links_.capacity() * (sizeof(Links) + 3 * sizeof(std::uint32_t)) + of_block_.capacity() * sizeof(LevelBlock) +
           owners_.bytes() + groups_.bytes();
  }

 private:
  /// Sets of cells.
  struct LevelBlock {
    std::uint64_t has_core = 0;
    std::uint64_t gained = 0, lost = 0;  ///< core points, in this step
  };
  [[nodiscard]] static std::uint64_t bit(std::uint32_t c) noexcept { return std::uint64_t{1} << (c % kBlockCells); }

  /// Calls f(item, lists) for items of lists_, in parallel. f appends to `lists`, which end up in lists_.
  template <class Item, class F>
  void for_each_of(const std::vector<Item>& some, F&& f) {
    const std::vector<Item> items = some;
    in_parts(items.size(), [&](std::size_t begin, std::size_t end) {
      Lists lists;
      for (std::size_t i = begin; i < end; ++i) f(items[i], lists);
      append(lists);
    });
  }

  /// Adds a point to those that need an owner.
  void add_unresolved(const Touched& point, Lists& lists) {
    const std::atomic_ref mark(unresolved_[point.point]);
    if (mark.load(std::memory_order_relaxed) != 0 || mark.exchange(1, std::memory_order_relaxed) != 0) return;
    lists.unresolved.push_back(point);
  }
  void add_unresolved_near(const Flip& flip, Lists& lists) {
    cells_.for_each_sparse(flip.cell, [&](std::uint32_t c, std::uint32_t i) {
      const auto& point = cells_.point(i);
      if (cells_.near(flip.x, point.x) && point.neighbors < minpts_) add_unresolved({c, i}, lists);
    });
  }
  void add_unresolved_around(std::uint32_t c, Lists& lists) {
    cells_.for_each_sparse(c, [&](std::uint32_t other, std::uint32_t i) {
      if (cells_.point(i).neighbors < minpts_) add_unresolved({other, i}, lists);
    });
  }

  /// Calls f(point) for the core points of a cell, only those since this step if `fresh`, until it returns true.
  /// Returns whether it did.
  template <class F>
  bool any_core(std::uint32_t c, bool fresh, F&& f) const {
    const std::uint32_t end = cells_.end_of(c);
    for (std::uint32_t i = fresh && cells_.stays_dense(c) ? end - cells_.arrived(c) : cells_.begin_of(c); i < end;
         ++i) {
      if (!cells_.is_core(c, i, minpts_)) continue;
      if (fresh && owners_.is_core(cells_.point(i).handle)) continue;
      if (f(cells_.point(i).x)) return true;
    }
    return false;
  }

  /// Returns true if a core point of c, one since this step if `fresh`, is near a core point of `other`, the cell
  /// around it with a number.
  [[nodiscard]] bool linked(std::uint32_t c, std::uint32_t number, std::uint32_t other, bool fresh) const {
    using Position = std::array<double, D>;
    constexpr std::uint64_t kMostPairs = 1 << 10;  // are tested one by one
    const std::uint64_t pairs =
        std::uint64_t{cells_.end_of(c) - cells_.begin_of(c)} * (cells_.end_of(other) - cells_.begin_of(other));
    if (pairs <= kMostPairs) {
      return any_core(c, fresh, [&](const Position& x) {
        return cells_.distances(x).reaches(number) &&
               any_core(other, false, [&](const Position& y) { return cells_.near(x, y); });
      });
    }
    std::array<std::vector<double>, D> axes;  // of the points that reach the other cell
    const auto gather = [&](std::uint32_t cell, bool only_fresh, std::uint32_t towards) {
      any_core(cell, only_fresh, [&](const Position& x) {
        if (!cells_.distances(x).reaches(towards)) return false;
        for (std::size_t k = 0; k < D; ++k) axes[k].push_back(x[k]);
        return false;
      });
    };
    gather(c, fresh, number);
    const std::size_t of_c = axes[0].size();
    gather(other, false, opposite<D>(number));
    std::vector<std::uint32_t> all(axes[0].size());
    std::iota(all.begin(), all.end(), std::uint32_t{0});
    std::array<const double*, D> coordinates;
    for (std::size_t k = 0; k < D; ++k) coordinates[k] = axes[k].data();
    return clustering::any_within(coordinates, cells_.limit(), std::span(all).first(of_c),
                                  std::span(all).subspan(of_c));
  }

  void set_link(std::uint32_t c, std::uint32_t number, bool value) noexcept {
    const std::atomic_ref word(links_[c][number / 64]);
    const std::uint64_t mask = std::uint64_t{1} << (number % 64);
    value ? word.fetch_or(mask, std::memory_order_relaxed) : word.fetch_and(~mask, std::memory_order_relaxed);
  }
  [[nodiscard]] bool has_link(std::uint32_t c, std::uint32_t number) const noexcept {
    const std::atomic_ref word(const_cast<std::uint64_t&>(links_[c][number / 64]));
    return (word.load(std::memory_order_relaxed) >> (number % 64) & 1U) != 0;
  }

  /// Updates the links of a cell whose core points changed.
  void update_links(std::uint32_t c, Lists& lists) {
    const auto chosen = [&](std::uint32_t b) { return of_block_[b].has_core | of_block_[b].lost; };
    cells_.for_each_around(c, chosen, [&](std::uint32_t number, std::uint32_t other) {
      const LevelBlock& block = of_block_[other / kBlockCells];
      if (other < c && ((block.gained | block.lost) & bit(other)) != 0) return;  // done there
      const bool was = has_link(c, number);
      const bool is = core_[c] > 0 && core_[other] > 0 && is_linked(c, number, other, was);
      if (is == was) return;
      set_link(c, number, is);
      set_link(other, opposite<D>(number), is);
      if (is) lists.linked.emplace_back(c, other);
    });
  }

  [[nodiscard]] bool is_linked(std::uint32_t c, std::uint32_t number, std::uint32_t other, bool was) const {
    const LevelBlock& of_c = of_block_[c / kBlockCells];
    const LevelBlock& of_other = of_block_[other / kBlockCells];
    if (was) return ((of_c.lost & bit(c)) | (of_other.lost & bit(other))) == 0 || linked(c, number, other, false);
    // The pair was not linked, so only a core point since this step can link it.
    return ((of_c.gained & bit(c)) != 0 && linked(c, number, other, true)) ||
           ((of_other.gained & bit(other)) != 0 && linked(other, opposite<D>(number), c, true));
  }

  /// Calls f(other) for the cells that a cell is linked to.
  template <class F>
  void for_each_linked(std::uint32_t c, F&& f) const {
    for (std::uint32_t word = 0; word < links_[c].size(); ++word) {
      for_each_in(links_[c][word], [&](std::uint32_t number) { f(cells_.around(c, word * 64 + number)); });
    }
  }

  /// Gives every cell with core points a group, so that two cells have the same one if links connect them.
  void resolve_groups() {
    const auto for_each_changed = [&](auto&& f) {
      for (const std::uint32_t b : lists_.changed) {
        for_each_in(of_block_[b].gained | of_block_[b].lost, [&](std::uint32_t cell) { f(b * kBlockCells + cell); });
      }
    };
    for_each_changed([&](std::uint32_t c) {
      if (core_[c] == 0) group_[c] = kNone;
    });
    for (const auto& [a, b] : lists_.linked) {
      if (group_[a] == kNone && group_[b] == kNone) group_[a] = groups_.add();
      if (group_[a] == kNone) group_[a] = group_[b];
      if (group_[b] == kNone) group_[b] = group_[a];
      groups_.join(group_[a], group_[b]);
    }
    for_each_changed([&](std::uint32_t c) {
      if (core_[c] > 0 && group_[c] == kNone) group_[c] = groups_.add();
    });
    separate_groups();
  }

  /// Appends cells that were linked to a cell, so that each part has one of them if their group fell apart there.
  /// It did not if these cells are still linked with each other.
  void find_ends(const Lost& lost, std::vector<std::uint32_t>& ends) const {
    const std::uint32_t c = lost.cell;
    std::array<std::uint32_t, kAround<D>> numbers;  // of the cells that were linked to c, and have core points
    std::size_t count = 0;
    bool chain = false;  // whether another cell without core points was linked to one
    for (std::uint32_t word = 0; word < lost.links.size(); ++word) {
      for_each_in(lost.links[word], [&](std::uint32_t bit_of_word) {
        const std::uint32_t number = word * 64 + bit_of_word;
        if (core_[cells_.around(c, number)] > 0) {
          numbers[count++] = number;
        } else {
          chain = core_[c] == 0;
        }
      });
    }
    if (core_[c] > 0) numbers[count++] = kSelf<D>;
    // Joins those that are linked. Those before `joined` are one part with the first of them.
    const std::size_t ends_before = ends.size();
    std::size_t parts = 0;
    for (std::size_t begin = 0, joined = 0; begin < count; begin = joined) {
      ++parts;
      ends.push_back(cells_.around(c, numbers[begin]));
      joined = begin + 1;
      for (std::size_t at = begin; at < joined; ++at) {
        for (std::size_t i = joined; i < count; ++i) {
          const std::uint32_t between = number_between<D>(numbers[at], numbers[i]);
          if (between == kAround<D> || !has_link(cells_.around(c, numbers[at]), between)) continue;
          std::swap(numbers[i], numbers[joined++]);
        }
      }
    }
    if (parts < 2 && !chain) ends.resize(ends_before);
  }

  /// Gives the parts of groups that fell apart groups of their own.
  void separate_groups() {
    std::vector<std::uint64_t> ends;  // by group
    for (const std::uint32_t c : lists_.ends) ends.push_back(std::uint64_t{groups_.find(group_[c])} << 32 | c);
    parallel_sort(ends);
    ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
    std::vector<std::uint32_t> cells(ends.size());
    std::vector<std::span<const std::uint32_t>> groups;
    for (std::size_t begin = 0, i = 0; i < ends.size(); ++i) {
      cells[i] = static_cast<std::uint32_t>(ends[i]);
      if (i + 1 < ends.size() && ends[i + 1] >> 32 == ends[i] >> 32) continue;
      if (i > begin) groups.push_back({cells.data() + begin, i + 1 - begin});
      begin = i + 1;
    }
    std::vector<std::vector<std::vector<std::uint32_t>>> parts(groups.size());
    in_parts(groups.size(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t g = begin; g < end; ++g) {
        parts[g] =
            SplitSearch(seen_, groups[g], [&](std::uint32_t c, auto&& f) { for_each_linked(c, f); }).take_parts();
      }
    });
    for (const auto& of_group : parts) {
      for (const std::vector<std::uint32_t>& part : of_group) {
        const std::uint32_t number = groups_.add();
        for (const std::uint32_t c : part) {
          group_[c] = number;
          for (std::uint32_t i = cells_.begin_of(c); i < cells_.end_of(c); ++i) {
            const std::uint32_t handle = cells_.point(i).handle;
            const bool stays_core = cells_.is_core(c, i, minpts_) && owners_.is_core(handle);
            if (stays_core) lists_.moved.emplace_back(handle, c);
          }
          add_unresolved_around(c, lists_);
        }
      }
    }
  }

  /// Finds the owners of a point that is not core.
  void resolve_point(const Touched& at, Lists& lists) const {
    const auto& point = cells_.point(at.point);
    const PointOwners::Several found = groups_near(at.cell, point.x);
    if (found.count > 1) {
      lists.shared_borders.push_back({point.handle, found});
    } else if (found.count == 1) {
      const bool same = owners_.is_border_of(point.handle, found.groups[0], groups_);
      if (!same) lists.borders.push_back({point.handle, found.groups[0]});
    } else if (owners_.has_owner(point.handle)) {
      lists.noise.push_back(point.handle);
    }
  }

  /// Returns the groups with core points near a position in cell c, one number of each.
  [[nodiscard]] PointOwners::Several groups_near(std::uint32_t c, const std::array<double, D>& x) const {
    PointOwners::Several found;
    const auto add = [&](std::uint32_t other, auto&& is_near) {
      const std::uint32_t group = groups_.root(group_[other]);
      const std::span<const std::uint32_t> known = std::span(found.groups).first(found.count);
      if (std::ranges::find(known, group) == known.end() && is_near()) found.groups[found.count++] = group;
    };
    if (core_[c] > 0) add(c, [] { return true; });
    const auto distances = cells_.distances(x);
    const auto chosen = [&](std::uint32_t b) { return of_block_[b].has_core; };
    cells_.for_each_around(c, chosen, [&](std::uint32_t number, std::uint32_t other) {
      if (!distances.reaches(number)) return;
      add(other, [&] { return any_core(other, false, [&](const auto& y) { return cells_.near(x, y); }); });
    });
    return found;
  }

  void set_owners() {
    owners_.begin(groups_.size());
    for (const auto& [handle, c] : lists_.moved) owners_.set_core(handle, group_[c]);
    for (const auto& [handle, c] : lists_.fresh) owners_.set_core(handle, group_[c]);
    for (const Border& border : lists_.borders) owners_.set_border(border.handle, border.group);
    for (const SharedBorder& border : lists_.shared_borders) owners_.set_border(border.handle, border.groups);
    for (const std::uint32_t handle : lists_.noise) owners_.set_noise(handle);
  }

  /// Gives new numbers to the groups, as far fewer are in use than there are, so that their counts stay in the cache.
  void rename_groups() {
    const std::vector<std::uint32_t> names = owners_.rename(groups_);
    for (std::uint32_t& group : group_) group = group == kNone ? kNone : names[group];
  }

  const MovingCells<D>& cells_;
  std::uint32_t minpts_;

  std::vector<LevelBlock> of_block_;

  // Of each cell.
  std::vector<Links> links_;              ///< bits of the cells around it that it is linked to
  std::vector<std::uint32_t> core_;       ///< the number of its core points
  std::vector<std::uint32_t> group_;      ///< kNone without core points
  std::vector<std::uint32_t> seen_;       ///< for SplitSearch
  std::vector<std::uint8_t> unresolved_;  ///< of each point in cells: 1 if it is in lists_.unresolved

  CellGroups groups_;
  PointOwners owners_;
  std::size_t clusters_ = 0;  ///< the number of clusters after the last step

  // Of the step.
  Lists lists_;
  std::mutex mutex_;
};

}  // namespace epsflow::windows
