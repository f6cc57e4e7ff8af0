// The clusters of one minpts in the cells of a window, which are kept as points come and go.
//
// Core points of one cell are neighbours, so they are in one cluster, and it suffices to join cells. Kept between
// steps: which points are core; which cells are linked, as they hold core points that are neighbours; for each point
// that is not core, which cells hold core points near it; and a group for each cell with core points, so that linked
// cells are in one group. Only what changed is tested again. New links join groups. For links that are lost, searches
// from both ends go on in turns until they meet; if one of them ends before, its cells are a group of their own. So the
// costs follow the changes, and only the last pass, over the rows, is linear.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include <epsflow/core/parallel.hpp>
#include <epsflow/windows/cell_groups.hpp>
#include <epsflow/windows/moving_cells.hpp>
#include <epsflow/windows/row_counts.hpp>

namespace epsflow::windows {

template <std::size_t D>
class MovingLevel {
 public:
  MovingLevel(const MovingCells<D>& cells, std::uint32_t minpts) : cells_(cells), minpts_(minpts) {}

  /// Follows a step of the cells, between their count() and end(). handles: the number of handles.
  void update(std::size_t handles) {
    of_cell_.resize(cells_.cells());
    core_.resize(handles, kNotCore);
    near_core_.resize(handles, {});
    owners_.resize(handles, kNone);
    last_labels_.resize(handles, kNoise);
    lists_ = {};
    groups_.begin(clusters_, [&](auto&& rename) {
      for (OfCell& cell : of_cell_) cell.group = rename(cell.group);
      for (std::uint32_t& owner : owners_) owner = owner < kSeveral ? rename(owner) : owner;
    });

    for (const auto& left : cells_.left()) {
      if (core_[left.handle] != kNotCore) lose(left.cell, lists_.changed);
      core_[left.handle] = kNotCore;
      owners_[left.handle] = kNone;
      last_labels_[left.handle] = kNoise;
    }
    const auto fetch_points = [&](std::span<const std::uint32_t> next) {
      if (next.size() > 8) cells_.fetch_cell(next[8]);
      if (next.size() > 4) cells_.fetch_points(next[4]);
    };
    in_parts(cells_.touched(), fetch_points, [&](auto, std::uint32_t c, Lists& lists) { find_core(c, lists); });
    const auto fetch_around = [&](std::span<const std::uint32_t> next) {
      if (next.size() > 6) cells_.fetch_around(next[6]);
      if (next.size() <= 3) return;
      cells_.for_each_around(next[3], [&](std::uint32_t, std::uint32_t c) {
        __builtin_prefetch(&of_cell_[c]);
        cells_.fetch_cell(c);
      });
    };
    const std::vector<std::uint32_t> changed = lists_.changed;
    in_parts(changed, fetch_around,
             [&](auto shared, std::uint32_t c, Lists& lists) { update_around<shared.value>(c, lists); });
    const std::vector<std::uint32_t> unsettled = lists_.unsettled;
    in_parts(
        unsettled, [](auto) {}, [&](auto, std::uint32_t handle, Lists&) { find_cores_near(handle); });
    settle_groups();
    settle_owners();
  }

  /// Forgets the changes of the step. The clusters stay as they are.
  void end() {
    for (const std::uint32_t handle : lists_.fresh) core_[handle] = kCore;
    for (const std::uint32_t c : lists_.changed) of_cell_[c].changes = 0;
  }

  /// Numbers the clusters in the order of the rows, and writes the label and core mark of each row. rows: [n] handles.
  /// earlier: the number of clusters before. Once for each step.
  [[nodiscard]] CountedClusters read(std::span<const std::uint32_t> rows, std::size_t earlier,
                                     std::span<std::int32_t> labels, std::span<std::uint8_t> core) {
    groups_.forget_labels();
    clusters_ = 0;
    for (const std::uint32_t handle : rows) {
      if (core_[handle] == kNotCore) continue;
      std::int32_t& label = groups_.label(owners_[handle]);
      if (label == kNoise) label = static_cast<std::int32_t>(clusters_++);
    }
    return count_rows(rows.size(), earlier, clusters_, [&](RowCounts& counts, std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const std::uint32_t handle = rows[i];
        core[i] = core_[handle] != kNotCore ? 1 : 0;
        labels[i] = label_of(handle);
        counts.add(i, labels[i], core[i] != 0, last_labels_[handle]);
        last_labels_[handle] = core[i] != 0 ? labels[i] : kNoise;
      }
    });
  }

  [[nodiscard]] std::uint64_t bytes() const noexcept {
    return of_cell_.capacity() * (sizeof(OfCell) + sizeof(std::uint32_t)) +
           core_.capacity() * (sizeof(AroundSet<D>) + 2 * sizeof(std::uint32_t) + 1) + groups_.bytes();
  }

 private:
  static constexpr std::uint8_t kNotCore = 0, kCore = 1, kFresh = 2;  ///< fresh: core since this step
  static constexpr std::uint8_t kGained = 1, kLost = 2;
  /// The owner of a border point that has core points of several groups near it.
  static constexpr std::uint32_t kSeveral = kNone - 1;

  struct OfCell {
    AroundSet<D> links = {};
    std::uint32_t core = 0;       ///< the number of its core points
    std::uint32_t group = kNone;  ///< kNone without core points
    std::uint8_t changes = 0;     ///< in this step: kGained, kLost
  };
  /// Two cells.
  using Pair = std::pair<std::uint32_t, std::uint32_t>;
  /// What changed in a step.
  struct Lists {
    std::vector<std::uint32_t> changed;    ///< cells whose core points changed
    std::vector<std::uint32_t> unsettled;  ///< points that arrived and are not core, or are core no longer
    std::vector<std::uint32_t> fresh;      ///< points that are core since this step
    std::vector<std::uint32_t> borders;    ///< points that are not core, and whose near cells changed
    std::vector<Pair> linked, cut;

    void append(const Lists& more) {
      const auto add = [](auto& all, const auto& some) { all.insert(all.end(), some.begin(), some.end()); };
      add(changed, more.changed);
      add(unsettled, more.unsettled);
      add(fresh, more.fresh);
      add(borders, more.borders);
      add(linked, more.linked);
      add(cut, more.cut);
    }
  };
  using Cell = typename MovingCells<D>::Cell;

  /// Calls f(shared, item, lists) for all items, as MovingCells::in_parts() does. f appends to `lists`, which end up in
  /// lists_.
  /// fetch(items): is called before each, with it and those that follow, to fetch memory.
  template <class Fetch, class F>
  void in_parts(std::span<const std::uint32_t> items, Fetch&& fetch, F&& f) {
    MovingCells<D>::in_parts(items.size(), items.size(), [&](auto shared, std::size_t begin, std::size_t end) {
      Lists lists;
      for (std::size_t i = begin; i < end; ++i) {
        fetch(items.subspan(i, end - i));
        f(shared, items[i], lists);
      }
      const std::scoped_lock lock(mutex_);
      lists_.append(lists);
    });
  }

  void note(std::uint32_t c, std::uint8_t change, std::vector<std::uint32_t>& changed) {
    if (of_cell_[c].changes == 0) changed.push_back(c);
    of_cell_[c].changes |= change;
  }
  void lose(std::uint32_t c, std::vector<std::uint32_t>& changed) {
    note(c, kLost, changed);
    --of_cell_[c].core;
  }

  /// Finds which points of a cell are core now.
  void find_core(std::uint32_t c, Lists& lists) {
    const Cell& cell = cells_.cell(c);
    const bool stays_full = cell.was_full && cell.counting == MovingCells<D>::Counting::none;
    for (std::uint32_t i = stays_full ? cell.stayed : 0; i < cell.size; ++i) {
      const std::uint32_t entry = cell.first + i;
      const std::uint32_t handle = cells_.handle(entry);
      const bool was = core_[handle] != kNotCore;
      if (cells_.is_core(cell, entry, minpts_)) {
        if (was) continue;
        note(c, kGained, lists.changed);
        ++of_cell_[c].core;
        core_[handle] = kFresh;
        lists.fresh.push_back(handle);
        continue;
      }
      if (was) {
        lose(c, lists.changed);
        core_[handle] = kNotCore;
      }
      if (was || (cell.changed && i >= cell.stayed)) lists.unsettled.push_back(handle);
    }
  }

  [[nodiscard]] bool is_core(std::uint32_t entry) const noexcept { return core_[cells_.handle(entry)] != kNotCore; }

  /// Calls f(entry) for the core points of a cell, those since this step only if `fresh`, until it returns true.
  /// Returns whether it did.
  template <class F>
  bool any_core(std::uint32_t c, bool fresh, F&& f) const {
    const Cell& cell = cells_.cell(c);
    const bool new_only = fresh && cell.was_full && cell.counting == MovingCells<D>::Counting::none;
    for (std::uint32_t entry = cell.first + (new_only ? cell.stayed : 0); entry < cell.first + cell.size; ++entry) {
      const std::uint8_t core = core_[cells_.handle(entry)];
      if (core != kNotCore && (!fresh || core == kFresh) && f(entry)) return true;
    }
    return false;
  }

  /// Returns true if a core point of c, one since this step if `fresh`, is near a core point of the cell around it.
  [[nodiscard]] bool linked(std::uint32_t c, std::uint32_t number, bool fresh) const {
    const std::uint32_t other = cells_.around(c, number);
    // Of large cells only the points near the other cell are compared.
    const bool sift = std::uint64_t{cells_.cell(c).size} * cells_.cell(other).size > kSifted;
    std::vector<std::array<double, D>> of_other;
    PointBox<D> box;
    if (sift) {
      any_core(other, false, [&](std::uint32_t entry) {
        const auto& x = cells_.point(entry);
        if (!cells_.distances(x.data()).reaches(opposite<D>(number))) return false;
        of_other.push_back(x);
        box.add(x);
        return false;
      });
    }
    return any_core(c, fresh, [&](std::uint32_t entry) {
      const auto& x = cells_.point(entry);
      if (!cells_.distances(x.data()).reaches(number)) return false;
      if (sift && !cells_.may_be_near(x, box)) return false;
      if (!sift) return any_core(other, false, [&](std::uint32_t at) { return cells_.near(x, at); });
      return std::any_of(of_other.begin(), of_other.end(), [&](const auto& y) { return cells_.near(y, entry); });
    });
  }

  template <bool shared>
  static void set_bit(AroundSet<D>& set, std::uint32_t bit, bool value) noexcept {
    std::uint64_t& word = set[bit / 64];
    const std::uint64_t mask = std::uint64_t{1} << (bit % 64);
    if constexpr (shared) {
      if (value) {
        std::atomic_ref(word).fetch_or(mask, std::memory_order_relaxed);
      } else {
        std::atomic_ref(word).fetch_and(~mask, std::memory_order_relaxed);
      }
    } else {
      word = value ? word | mask : word & ~mask;
    }
  }
  template <bool shared>
  [[nodiscard]] static bool bit_of(AroundSet<D>& set, std::uint32_t bit) noexcept {
    if constexpr (!shared) return has<D>(set, bit);
    return (std::atomic_ref(set[bit / 64]).load(std::memory_order_relaxed) >> (bit % 64) & 1U) != 0;
  }

  /// Updates the links of a cell whose core points changed, and the points around it that are not core. Of two cells
  /// the first, in the order of slots, has the link.
  template <bool shared>
  void update_around(std::uint32_t c, Lists& lists) {
    const OfCell& own = of_cell_[c];
    cells_.for_each_around(c, [&](std::uint32_t number, std::uint32_t other) {
      if (cells_.cell(other).size > of_cell_[other].core) update_borders<shared>(c, opposite<D>(number), other, lists);
      if (of_cell_[other].changes != 0 && other < c) return;  // done there
      AroundSet<D>& set = of_cell_[number > kSelf<D> ? c : other].links;
      const std::uint32_t bit = std::max(number, opposite<D>(number));
      const bool was = bit_of<shared>(set, bit);
      const bool is = own.core > 0 && of_cell_[other].core > 0 && is_linked(c, number, was);
      if (is == was) return;
      set_bit<shared>(set, bit, is);
      (is ? lists.linked : lists.cut).emplace_back(c, other);
    });
    // Points of the cell itself need no bit: they are near its core points, if it has any.
    list_borders(c, lists.borders);
  }

  [[nodiscard]] bool is_linked(std::uint32_t c, std::uint32_t number, bool was) const {
    const std::uint32_t other = cells_.around(c, number);
    const std::uint8_t of_c = of_cell_[c].changes, of_other = of_cell_[other].changes;
    if (was) return ((of_c | of_other) & kLost) == 0 || linked(c, number, false);
    // The pair was not linked, so only a core point since this step can link it.
    return ((of_c & kGained) != 0 && linked(c, number, true)) ||
           ((of_other & kGained) != 0 && linked(other, opposite<D>(number), true));
  }

  /// Updates the near cells of the points of cell c that are not core, as to one changed cell, which has the number
  /// `number` around c.
  template <bool shared>
  void update_borders(std::uint32_t changed, std::uint32_t number, std::uint32_t c, Lists& lists) {
    const OfCell& from = of_cell_[changed];
    const Cell& cell = cells_.cell(c);
    for (std::uint32_t entry = cell.first; entry < cell.first + cell.size; ++entry) {
      if (is_core(entry)) continue;
      const std::uint32_t handle = cells_.handle(entry);
      AroundSet<D>& set = near_core_[handle];
      const bool was = bit_of<shared>(set, number);
      const bool stays = (from.changes & (was ? kLost : kGained)) == 0;
      if (stays && from.core > 0) continue;
      const bool is = from.core > 0 && has_core_near(entry, c, number, !was);
      if (is == was) continue;
      set_bit<shared>(set, number, is);
      lists.borders.push_back(handle);
    }
  }

  /// Returns true if the cell around c with that number has core points, ones since this step if `fresh`, near a point
  /// of c.
  [[nodiscard]] bool has_core_near(std::uint32_t entry, std::uint32_t c, std::uint32_t number, bool fresh) const {
    const auto x = cells_.point(entry);
    return cells_.distances(x.data()).reaches(number) &&
           any_core(cells_.around(c, number), fresh, [&](std::uint32_t at) { return cells_.near(x, at); });
  }

  /// Finds all cells with core points near a point that is not core since this step.
  void find_cores_near(std::uint32_t handle) {
    const std::uint32_t c = cells_.cell_of(handle);
    const std::uint32_t entry = cells_.entry_of(handle);
    AroundSet<D> set = {};
    cells_.for_each_around(c, [&](std::uint32_t number, std::uint32_t other) {
      if (of_cell_[other].core > 0 && has_core_near(entry, c, number, false)) set_bit<false>(set, number, true);
    });
    near_core_[handle] = set;
  }

  /// Calls f(other) for the cells that a cell is linked to.
  template <class F>
  void for_each_linked(std::uint32_t c, F&& f) const {
    cells_.for_each_around(c, [&](std::uint32_t number, std::uint32_t other) {
      const AroundSet<D>& links = of_cell_[number > kSelf<D> ? c : other].links;
      if (has<D>(links, std::max(number, opposite<D>(number)))) f(other);
    });
  }

  /// Gives every cell with core points a group, so that two cells have the same one if links connect them.
  void settle_groups() {
    const auto group = [&](std::uint32_t c) -> std::uint32_t& { return of_cell_[c].group; };
    for (const std::uint32_t c : lists_.changed) {
      if (of_cell_[c].core == 0) group(c) = kNone;
    }
    for (const auto& [a, b] : lists_.linked) {
      if (group(a) == kNone && group(b) == kNone) group(a) = groups_.add();
      if (group(a) == kNone) group(a) = group(b);
      if (group(b) == kNone) group(b) = group(a);
      groups_.join(group(a), group(b));
    }
    for (const std::uint32_t c : lists_.changed) {
      if (of_cell_[c].core > 0 && group(c) == kNone) group(c) = groups_.add();
    }
    // The ends of the links that were lost, by group. Each part of a group that fell apart has one of them.
    std::map<std::uint32_t, std::vector<std::uint32_t>> ends;
    for (const auto& [a, b] : lists_.cut) {
      for (const std::uint32_t c : {a, b}) {
        if (of_cell_[c].core > 0) ends[groups_.find(group(c))].push_back(c);
      }
    }
    separated_.clear();
    for (auto& [root, cells] : ends) {
      std::sort(cells.begin(), cells.end());
      cells.erase(std::unique(cells.begin(), cells.end()), cells.end());
      if (cells.size() < 2) continue;
      search_.separate(
          of_cell_.size(), cells, [&](std::uint32_t c, auto&& f) { for_each_linked(c, f); },
          [&](std::span<const std::uint32_t> part) {
            const std::uint32_t fresh = groups_.add();
            for (const std::uint32_t c : part) group(c) = fresh;
            separated_.insert(separated_.end(), part.begin(), part.end());
          });
    }
  }

  /// Updates the groups of points: the group of its cell for a core point, for others of the cells near it.
  void settle_owners() {
    for (const std::uint32_t c : separated_) {
      const Cell& cell = cells_.cell(c);
      for (std::uint32_t entry = cell.first; entry < cell.first + cell.size; ++entry) {
        if (is_core(entry)) owners_[cells_.handle(entry)] = of_cell_[c].group;
      }
      list_borders(c, lists_.borders);
      cells_.for_each_around(c, [&](std::uint32_t, std::uint32_t other) { list_borders(other, lists_.borders); });
    }
    for (const std::uint32_t handle : lists_.fresh) owners_[handle] = of_cell_[cells_.cell_of(handle)].group;
    for (const std::uint32_t handle : lists_.unsettled) settle_border(handle);
    for (const std::uint32_t handle : lists_.borders) settle_border(handle);
  }
  /// Appends the points of a cell that are not core.
  void list_borders(std::uint32_t c, std::vector<std::uint32_t>& borders) const {
    const Cell& cell = cells_.cell(c);
    if (cell.size == of_cell_[c].core) return;
    for (std::uint32_t entry = cell.first; entry < cell.first + cell.size; ++entry) {
      if (!is_core(entry)) borders.push_back(cells_.handle(entry));
    }
  }

  /// Calls f(cell) for the cells with core points near a point that is not core.
  template <class F>
  void for_each_near(std::uint32_t handle, F&& f) const {
    const std::uint32_t c = cells_.cell_of(handle);
    if (of_cell_[c].core > 0) f(c);
    for_each_in<D>(near_core_[handle], [&](std::uint32_t number) { f(cells_.around(c, number)); });
  }

  void settle_border(std::uint32_t handle) {
    if (core_[handle] != kNotCore) return;
    std::uint32_t owner = kNone;
    for_each_near(handle, [&](std::uint32_t c) {
      const std::uint32_t group = of_cell_[c].group;
      if (owner == kNone) owner = group;
      if (owner != kSeveral && groups_.find(owner) != groups_.find(group)) owner = kSeveral;
    });
    owners_[handle] = owner;
  }

  /// Returns the label of a point; of a border point the lowest of the clusters that have a core point near it.
  [[nodiscard]] std::int32_t label_of(std::uint32_t handle) const noexcept {
    const std::uint32_t owner = owners_[handle];
    if (owner == kNone) return kNoise;
    if (owner != kSeveral) return groups_.label(owner);
    auto lowest = static_cast<std::uint32_t>(kNoise);  // the largest number
    for_each_near(handle, [&](std::uint32_t c) {
      lowest = std::min(lowest, static_cast<std::uint32_t>(groups_.label(of_cell_[c].group)));
    });
    return static_cast<std::int32_t>(lowest);
  }

  static constexpr std::uint64_t kSifted = 1 << 10;

  const MovingCells<D>& cells_;
  std::uint32_t minpts_;

  // Of each handle. near_core_: the cells around its own with core points near a point that is not core. owners_: the
  // group of a point, kNone for noise, or kSeveral. last_labels_: the label after the last step if it was core then.
  std::vector<std::uint8_t> core_;
  std::vector<AroundSet<D>> near_core_;
  std::vector<std::uint32_t> owners_;
  std::vector<std::int32_t> last_labels_;

  std::vector<OfCell> of_cell_;
  CellGroups groups_;
  std::size_t clusters_ = 0;  ///< the number of clusters after the last step
  SplitSearch search_;

  // Of the step.
  Lists lists_;
  std::vector<std::uint32_t> separated_;  ///< cells that are in another group, because theirs fell apart
  std::mutex mutex_;
};

}  // namespace epsflow::windows
