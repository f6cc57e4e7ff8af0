// The clusters of one minpts in the cells of a window, which are kept as points come and go.
//
// Core points of one cell are neighbours, so they are in one cluster, and it suffices to unite cells. Kept between steps:
// which points are core; which cells are linked, as they hold core points that are neighbours; and, for each point that
// is not core, which cells hold core points near it. Only what changed is tested again. The cells are then united by
// their links without any distance.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include <epsflow/clustering/cluster_matching.hpp>
#include <epsflow/clustering/union_find.hpp>
#include <epsflow/core/labels.hpp>
#include <epsflow/core/parallel.hpp>
#include <epsflow/windows/moving_cells.hpp>
#include <epsflow/windows/window_clusters.hpp>

namespace epsflow::windows {

template <std::size_t D>
class MovingLevel {
 public:
  MovingLevel(const MovingCells<D>& cells, std::uint32_t minpts) : cells_(cells), minpts_(minpts) {}

  /// Follows a step of the cells, between their count() and end(). ids: by handle, ascending in the order of the rows.
  void update(std::span<const std::uint64_t> ids) {
    of_cell_.resize(cells_.cells());
    core_.resize(ids.size(), kNotCore);
    near_core_.resize(ids.size(), {});
    changed_.clear();
    unsettled_.clear();
    fresh_.clear();

    for (const auto& left : cells_.left()) {
      if (core_[left.handle] != kNotCore) lose(left.cell, changed_);
      core_[left.handle] = kNotCore;
    }
    const auto touched = cells_.touched();
    MovingCells<D>::in_parts(touched.size(), touched.size(), [&](auto, std::size_t begin, std::size_t end) {
      Lists lists;
      for (std::size_t i = begin; i < end; ++i) find_core(touched[i], lists);
      append(lists);
    });
    MovingCells<D>::in_parts(changed_.size(), changed_.size(), [&](auto shared, std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        update_around<shared.value>(changed_[i]);
        update_first(changed_[i], ids);
      }
    });
    parallel_ranges(unsettled_.size(), 512, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) find_cores_near(unsettled_[i]);
    });
    unite();
  }

  /// Forgets the changes of the step. The clusters stay as they are.
  void end() {
    for (const std::uint32_t handle : fresh_) core_[handle] = kCore;
    for (const std::uint32_t c : changed_) of_cell_[c].changes = 0;
  }

  /// Returns the clusters: ids of their first core points, and core points. Cluster k has the label k.
  [[nodiscard]] const std::vector<CoreSet>& clusters() const noexcept { return clusters_; }

  /// Returns the core points that clusters before and after the last step share, sorted. O(cells).
  [[nodiscard]] std::vector<SharedCore> shared() const {
    SharedCoreCounter counter(earlier_clusters_);
    for (const OfCell& cell : of_cell_) {
      const std::uint32_t kept = cell.changes != 0 ? cell.kept : cell.core;
      if (kept == 0) continue;
      counter.add(static_cast<std::uint32_t>(cell.earlier), static_cast<std::uint32_t>(cell.label), kept);
    }
    return std::move(counter).take();
  }

  /// Writes label and core mark of each row. rows: the handle of each. sizes: [clusters] border points are added.
  void write(std::span<const std::uint32_t> rows, std::span<std::int32_t> labels, std::span<std::uint8_t> core,
             std::span<std::uint64_t> borders) const {
    parallel_ranges(rows.size(), 1 << 14, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const std::uint32_t handle = rows[i];
        core[i] = core_[handle] != kNotCore ? 1 : 0;
        labels[i] = core[i] != 0 ? of_cell_[cells_.cell_of(handle)].label : border_label(handle);
        if (core[i] == 0 && labels[i] != kNoise) {
          std::atomic_ref(borders[static_cast<std::size_t>(labels[i])]).fetch_add(1, std::memory_order_relaxed);
        }
      }
    });
  }

  [[nodiscard]] std::uint64_t bytes() const noexcept {
    return of_cell_.capacity() * (sizeof(OfCell) + 2 * sizeof(std::uint32_t)) + core_.capacity() * (sizeof(AroundSet<D>) + 1);
  }

 private:
  static constexpr std::uint64_t kNoId = std::numeric_limits<std::uint64_t>::max();
  static constexpr std::uint8_t kNotCore = 0, kCore = 1, kFresh = 2;  ///< fresh: core since this step
  static constexpr std::uint8_t kGained = 1, kLost = 2;

  struct OfCell {
    AroundSet<D> links = {};
    std::uint64_t first_core = kNoId;  ///< the smallest id of its core points
    std::uint32_t core = 0;            ///< the number of its core points
    std::uint32_t kept = 0;            ///< if they changed in this step: the number of those that stayed core
    std::int32_t label = kNoise;
    std::int32_t earlier = kNoise;  ///< the label before the step
    std::uint8_t changes = 0;       ///< in this step: kGained, kLost
  };
  struct Lists {
    std::vector<std::uint32_t> changed, unsettled, fresh;
  };
  using Cell = typename MovingCells<D>::Cell;

  void append(const Lists& lists) {
    const std::scoped_lock lock(mutex_);
    changed_.insert(changed_.end(), lists.changed.begin(), lists.changed.end());
    unsettled_.insert(unsettled_.end(), lists.unsettled.begin(), lists.unsettled.end());
    fresh_.insert(fresh_.end(), lists.fresh.begin(), lists.fresh.end());
  }

  void note(std::uint32_t c, std::uint8_t change, std::vector<std::uint32_t>& changed) {
    OfCell& cell = of_cell_[c];
    if (cell.changes == 0) {
      cell.kept = cell.core;
      changed.push_back(c);
    }
    cell.changes |= change;
  }
  void lose(std::uint32_t c, std::vector<std::uint32_t>& changed) {
    note(c, kLost, changed);
    --of_cell_[c].kept;
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
    if (sift) {
      any_core(other, false, [&](std::uint32_t entry) {
        const auto x = cells_.point(entry);
        if (cells_.distances(x.data()).reaches(opposite<D>(number))) of_other.push_back(x);
        return false;
      });
    }
    return any_core(c, fresh, [&](std::uint32_t entry) {
      const auto x = cells_.point(entry);
      if (!cells_.distances(x.data()).reaches(number)) return false;
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
  void update_around(std::uint32_t c) {
    const OfCell& own = of_cell_[c];
    cells_.for_each_around(c, [&](std::uint32_t number, std::uint32_t other) {
      if (cells_.cell(other).size > of_cell_[other].core) update_borders<shared>(own, other, opposite<D>(number));
      if (of_cell_[other].changes != 0 && other < c) return;  // done there
      AroundSet<D>& set = of_cell_[number > kSelf<D> ? c : other].links;
      const std::uint32_t bit = std::max(number, opposite<D>(number));
      const bool was = bit_of<shared>(set, bit);
      const bool is = own.core > 0 && of_cell_[other].core > 0 && is_linked(c, number, was);
      if (is != was) set_bit<shared>(set, bit, is);
    });
  }

  [[nodiscard]] bool is_linked(std::uint32_t c, std::uint32_t number, bool was) const {
    const std::uint32_t other = cells_.around(c, number);
    const std::uint8_t of_c = of_cell_[c].changes, of_other = of_cell_[other].changes;
    if (was) return ((of_c | of_other) & kLost) == 0 || linked(c, number, false);
    // The pair was not linked, so only a core point since this step can link it.
    return ((of_c & kGained) != 0 && linked(c, number, true)) ||
           ((of_other & kGained) != 0 && linked(other, opposite<D>(number), true));
  }

  /// Updates for the points of a cell c that are not core whether the changed cell, which has the number `number` around
  /// c, has core points near them.
  template <bool shared>
  void update_borders(const OfCell& changed, std::uint32_t c, std::uint32_t number) {
    const Cell& cell = cells_.cell(c);
    for (std::uint32_t entry = cell.first; entry < cell.first + cell.size; ++entry) {
      if (is_core(entry)) continue;
      AroundSet<D>& set = near_core_[cells_.handle(entry)];
      const bool was = bit_of<shared>(set, number);
      const bool stays = (changed.changes & (was ? kLost : kGained)) == 0;
      if (stays && changed.core > 0) continue;
      const bool is = changed.core > 0 && has_core_near(entry, c, number, !was);
      if (is != was) set_bit<shared>(set, number, is);
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

  void update_first(std::uint32_t c, std::span<const std::uint64_t> ids) {
    std::uint64_t first = kNoId;
    any_core(c, false, [&](std::uint32_t entry) {
      first = std::min(first, ids[cells_.handle(entry)]);
      return false;
    });
    of_cell_[c].first_core = first;
  }

  /// Makes clusters of the linked cells.
  void unite() {
    const auto cells = static_cast<std::uint32_t>(of_cell_.size());
    earlier_clusters_ = clusters_.size();
    roots_.resize(cells);
    constexpr std::size_t kPiece = 1 << 13;
    parallel_ranges(cells, kPiece, [&](std::size_t begin, std::size_t end) {
      for (std::size_t c = begin; c < end; ++c) {
        roots_[c] = of_cell_[c].core > 0 ? static_cast<std::uint32_t>(c) : clustering::kNotCore;
      }
    });
    const clustering::UnionFind sets(roots_);
    parallel_ranges(cells, kPiece, [&](std::size_t begin, std::size_t end) {
      for (auto c = static_cast<std::uint32_t>(begin); c < end; ++c) {
        for_each_in<D>(of_cell_[c].links, [&](std::uint32_t number) {
          const std::uint32_t other = cells_.around(c, number);
          if (sets.parent(c) != sets.parent(other)) (void)sets.unite(c, other);
        });
      }
    });
    number_clusters(sets);
  }

  void number_clusters(const clustering::UnionFind& sets) {
    clusters_.clear();
    cluster_at_.resize(of_cell_.size());
    // A root is the smallest cell of its set, so that it comes first.
    for (std::uint32_t c = 0; c < of_cell_.size(); ++c) {
      if (of_cell_[c].core == 0) continue;
      const std::uint32_t root = sets.find(c);
      if (root == c) {
        cluster_at_[c] = static_cast<std::uint32_t>(clusters_.size());
        clusters_.push_back({kNoId, 0});
      } else {
        cluster_at_[c] = cluster_at_[root];
      }
      CoreSet& set = clusters_[cluster_at_[c]];
      set.first_core = std::min(set.first_core, of_cell_[c].first_core);
      set.core += of_cell_[c].core;
    }
    std::vector<std::uint32_t> order(clusters_.size());
    for (std::uint32_t k = 0; k < order.size(); ++k) order[k] = k;
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return clusters_[a].first_core < clusters_[b].first_core;
    });
    std::vector<CoreSet> sorted(clusters_.size());
    std::vector<std::int32_t> label_of(clusters_.size());
    for (std::uint32_t k = 0; k < order.size(); ++k) {
      sorted[k] = clusters_[order[k]];
      label_of[order[k]] = static_cast<std::int32_t>(k);
    }
    clusters_.swap(sorted);
    for (std::uint32_t c = 0; c < of_cell_.size(); ++c) {
      OfCell& cell = of_cell_[c];
      cell.earlier = cell.label;
      cell.label = cell.core > 0 ? label_of[cluster_at_[c]] : kNoise;
    }
  }

  /// Returns the label of a point that is not core: the lowest of the clusters that have a core point near it.
  [[nodiscard]] std::int32_t border_label(std::uint32_t handle) const noexcept {
    const std::uint32_t c = cells_.cell_of(handle);
    auto lowest = static_cast<std::uint32_t>(of_cell_[c].label);  // noise is the largest number
    for_each_in<D>(near_core_[handle], [&](std::uint32_t number) {
      lowest = std::min(lowest, static_cast<std::uint32_t>(of_cell_[cells_.around(c, number)].label));
    });
    return static_cast<std::int32_t>(lowest);
  }

  static constexpr std::uint64_t kSifted = 1 << 10;

  const MovingCells<D>& cells_;
  std::uint32_t minpts_;

  // Of each handle. near_core_: the cells with core points near a point that is not core.
  std::vector<std::uint8_t> core_;
  std::vector<AroundSet<D>> near_core_;

  std::vector<OfCell> of_cell_;
  std::vector<std::uint32_t> roots_, cluster_at_;  ///< of each cell

  std::vector<CoreSet> clusters_;
  std::size_t earlier_clusters_ = 0;

  // Of the step.
  std::vector<std::uint32_t> changed_;
  std::vector<std::uint32_t> unsettled_;  ///< points that arrived and are not core, or are core no longer
  std::vector<std::uint32_t> fresh_;
  std::mutex mutex_;
};

}  // namespace epsflow::windows
