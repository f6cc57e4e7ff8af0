// The points of a window in cells, and the number of neighbours of each, which are kept as points come and go.
//
// A point that arrives or leaves is tested against the points of the cells around it, whose numbers change by one. So a
// step costs the neighbourhoods of the points that change. Points of one cell are neighbours, so only neighbours in
// other cells are counted. A cell with many points counts nothing at all: each of its points is core.
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

#include <epsflow/core/parallel.hpp>
#include <epsflow/windows/cell_frame.hpp>
#include <epsflow/windows/cell_map.hpp>

namespace epsflow::windows {

/// The least number of changed points or cells for which several threads are faster than one.
inline constexpr std::size_t kFewForThreads = 2048;

/// Points [m × D] that arrive, and the number of each, which it keeps while it stays (windows/window_rows.hpp).
struct Arrivals {
  std::span<const std::uint32_t> handles;
  std::span<const double> x;
};

/// A box around points.
template <std::size_t D>
struct PointBox {
  PointBox() {
    lo.fill(std::numeric_limits<double>::infinity());
    hi.fill(-std::numeric_limits<double>::infinity());
  }
  void add(const std::array<double, D>& x) noexcept {
    for (std::size_t k = 0; k < D; ++k) {
      lo[k] = std::min(lo[k], x[k]);
      hi[k] = std::max(hi[k], x[k]);
    }
  }
  std::array<double, D> lo, hi;
};

/// A step is: begin(), leave() for each point that leaves, arrive(), count(); then the cells can be read; then end().
template <std::size_t D>
class MovingCells {
 public:
  enum class Counting : std::uint8_t {
    counted,  ///< `outside` of each point is up to date
    none,     ///< the cell has enough points for every minpts
    anew,     ///< within a step: the points are counted at its end
  };

  struct Cell {
    std::uint64_t key = 0;
    std::uint32_t first = 0;  ///< its points are the entries [first, first + size)
    std::uint32_t size = 0;
    std::uint32_t room = 0;
    std::uint32_t stayed = 0;          ///< within a step, if it changed: of these, the points that did not just arrive
    std::uint32_t first_left = kNone;  ///< within a step: the first of its points that left
    Counting counting = Counting::counted;
    bool was_full = false;  ///< at the begin of the step: counting == none
    bool changed = false;   ///< within a step: points left or arrived
    bool listed = false;    ///< it is in the list of cells that may be dropped
  };

  /// A point that left in this step.
  struct Left {
    std::array<double, D> x;
    std::uint32_t handle;
    std::uint32_t cell;
    std::uint32_t next;  ///< the next one of the same cell, or kNone
  };

  /// radius: of neighbourhoods, at least 2^-500. largest_minpts: from as many neighbours on counts do not matter.
  MovingCells(double radius, std::uint32_t largest_minpts, const CellFrame<D>& frame)
      : frame_(frame), limit_(radius * radius), minpts_(largest_minpts) {}

  void begin(std::size_t handles) {
    left_.clear();
    changed_.clear();
    new_cells_.clear();
    if (cell_of_.size() < handles) {
      cell_of_.resize(handles, kNone);
      entry_of_.resize(handles, kNone);
    }
  }

  void leave(std::uint32_t handle) {
    const std::uint32_t c = cell_of_[handle];
    mark_changed(c);
    Cell& cell = cells_[c];
    const std::uint32_t entry = entry_of_[handle];
    const std::uint32_t last = cell.first + --cell.size;
    left_.push_back({point(entry), handle, c, cell.first_left});
    cell.first_left = static_cast<std::uint32_t>(left_.size() - 1);
    if (entry != last) move_entry(last, entry);
    cell.stayed = cell.size;
  }

  void arrive(const Arrivals& points) {
    if (points.handles.size() > cells_.size()) {
      arrive_in_order(points);
    } else {
      for (std::size_t i = 0; i < points.handles.size(); ++i) put(points.handles[i], points.x.data() + i * D);
    }
    find_cells_around();
    for (const std::uint32_t c : changed_) choose_counting(cells_[c]);
  }

  /// Brings the numbers of neighbours up to date.
  void count() {
    touched_flags_.resize(cells_.size(), 0);
    touched_ = changed_;
    for (const std::uint32_t c : changed_) touched_flags_[c] = 1;
    in_parts(changed_.size(), left_.size() + changed_.size(), [&](auto shared, std::size_t begin, std::size_t end) {
      std::vector<std::uint32_t> touched;
      for (std::size_t i = begin; i < end; ++i) {
        if (i + 6 < end) fetch_around(changed_[i + 6]);
        if (i + 4 < end) for_each_around(changed_[i + 4], [&](std::uint32_t, std::uint32_t c) { fetch_cell(c); });
        if (i + 2 < end) for_each_around(changed_[i + 2], [&](std::uint32_t, std::uint32_t c) { fetch_points(c); });
        count_changes<shared.value>(changed_[i], touched);
      }
      append(touched_, touched);
    });
    parallel_ranges(changed_.size(), 1024, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        if (cells_[changed_[i]].counting == Counting::anew) count_anew(changed_[i]);
      }
    });
  }

  /// Forgets the changes of the step, and some of the cells that have been empty for long.
  void end() {
    for (const std::uint32_t c : changed_) {
      Cell& cell = cells_[c];
      cell.changed = false;
      cell.first_left = kNone;
      cell.stayed = cell.size;
      if (cell.counting == Counting::anew) cell.counting = Counting::counted;
      cell.was_full = cell.counting == Counting::none;
      if (cell.size == 0 && !std::exchange(cell.listed, true)) empty_.push_back(c);
      if (4 * std::uint64_t{cell.size} < cell.room && cell.room > kFewRoom) move_to_room(cell, cell.room / 2);
    }
    for (const std::uint32_t c : touched_) touched_flags_[c] = 0;
    drop_empty_cells();
  }

  /// Returns the number of entries, in use or not.
  [[nodiscard]] std::size_t entries() const noexcept { return entries_.size(); }
  /// Returns the number of cells, some of which may be empty. Numbers are used again once a cell is gone.
  [[nodiscard]] std::size_t cells() const noexcept { return cells_.size(); }
  [[nodiscard]] const Cell& cell(std::uint32_t c) const noexcept { return cells_[c]; }
  /// Returns the cell that has a number around c; it must be there.
  [[nodiscard]] std::uint32_t around(std::uint32_t c, std::uint32_t number) const noexcept {
    return around_[c].cells[number];
  }
  /// Fetch parts of the memory of a cell, as memory takes longer to answer than a cell takes to be processed.
  void fetch_around(std::uint32_t c) const noexcept {
    __builtin_prefetch(&around_[c]);
    __builtin_prefetch(reinterpret_cast<const char*>(&around_[c]) + 64);
  }
  void fetch_cell(std::uint32_t c) const noexcept { __builtin_prefetch(&cells_[c]); }
  void fetch_points(std::uint32_t c) const noexcept { __builtin_prefetch(entries_.data() + cells_[c].first); }

  /// Calls f(number, cell) for the cells around c that are there.
  template <class F>
  void for_each_around(std::uint32_t c, F&& f) const {
    for_each_in<D>(around_[c].present, [&](std::uint32_t number) { f(number, around_[c].cells[number]); });
  }
  [[nodiscard]] std::uint32_t handle(std::uint32_t entry) const noexcept { return entries_[entry].handle; }
  [[nodiscard]] std::uint32_t cell_of(std::uint32_t handle) const noexcept { return cell_of_[handle]; }
  [[nodiscard]] std::uint32_t entry_of(std::uint32_t handle) const noexcept { return entry_of_[handle]; }
  [[nodiscard]] const std::array<double, D>& point(std::uint32_t entry) const noexcept { return entries_[entry].x; }
  [[nodiscard]] typename CellFrame<D>::Distances distances(const double* x) const noexcept { return {frame_, x}; }
  [[nodiscard]] bool near(const std::array<double, D>& x, std::uint32_t entry) const noexcept {
    double sum = 0;
    for (std::size_t k = 0; k < D; ++k) {
      const double diff = x[k] - entries_[entry].x[k];
      sum += diff * diff;
    }
    return sum <= limit_;
  }
  /// Returns false only if no point in the box is near.
  [[nodiscard]] bool may_be_near(const std::array<double, D>& x, const PointBox<D>& box) const noexcept {
    double sum = 0;
    for (std::size_t k = 0; k < D; ++k) {
      const double outside = std::max({box.lo[k] - x[k], x[k] - box.hi[k], 0.0});
      sum += outside * outside;
    }
    return sum <= limit_;  // rounding is monotonic: no point of the box has a smaller sum
  }
  /// Returns true if a point has minpts neighbours, for the minpts up to the largest.
  [[nodiscard]] bool is_core(const Cell& cell, std::uint32_t entry, std::uint32_t minpts) const noexcept {
    return cell.counting == Counting::none || std::uint64_t{cell.size} + entries_[entry].outside >= minpts;
  }
  [[nodiscard]] const CellFrame<D>& frame() const noexcept { return frame_; }
  [[nodiscard]] std::span<const Left> left() const noexcept { return left_; }
  /// Returns the cells in which points left, arrived, or have another number of neighbours.
  [[nodiscard]] std::span<const std::uint32_t> touched() const noexcept { return touched_; }

  [[nodiscard]] std::uint64_t bytes() const noexcept {
    return cells_.capacity() * (sizeof(Cell) + sizeof(around_[0]) + 1) + map_.bytes() +
           entries_.capacity() * sizeof(Entry) + (empty_.capacity() + free_cells_.capacity()) * sizeof(std::uint32_t) +
           cell_of_.capacity() * 2 * sizeof(std::uint32_t);
  }

  /// Calls body(shared, begin, end) for all of [0, count): once, with std::false_type, if the work is little; else in
  /// parallel, with std::true_type, so that it has to use atomic operations on what several ranges write.
  template <class Body>
  static void in_parts(std::size_t count, std::size_t work, Body&& body) {
    if (work < kFewForThreads) return body(std::false_type{}, std::size_t{0}, count);
    parallel_ranges(count, 512, [&](std::size_t begin, std::size_t end) { body(std::true_type{}, begin, end); });
  }

 private:
  static constexpr std::uint32_t kFewRoom = 8;  ///< cells with less do not give up any

  /// A point, and the number of its neighbours in other cells.
  struct Entry {
    std::array<double, D> x;
    std::uint32_t handle;
    std::uint32_t outside;
  };

  /// The cells around a cell. Only the cells in the set `present` are there.
  struct Around {
    AroundSet<D> present = {};
    std::array<std::uint32_t, kAround<D>> cells;
  };

  void mark_changed(std::uint32_t c) {
    Cell& cell = cells_[c];
    if (cell.changed) return;
    cell.changed = true;
    cell.stayed = cell.size;
    changed_.push_back(c);
  }

  void move_entry(std::uint32_t from, std::uint32_t to) noexcept {
    entries_[to] = entries_[from];
    entry_of_[entries_[to].handle] = to;
  }

  /// Inserts the points cell by cell, so that cells that are near each other have numbers near each other.
  void arrive_in_order(const Arrivals& points) {
    std::vector<std::pair<std::uint64_t, std::uint32_t>> order(points.handles.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = {frame_.key_of(points.x.data() + i * D), i};
    std::sort(order.begin(), order.end());
    for (const auto& [key, i] : order) put(points.handles[i], points.x.data() + i * D);
  }

  void put(std::uint32_t handle, const double* x) {
    const std::uint32_t c = cell_at(frame_.key_of(x));
    mark_changed(c);
    Cell& cell = cells_[c];
    if (cell.size == cell.room) move_to_room(cell, std::max<std::uint32_t>(2, 2 * cell.room));
    const std::uint32_t entry = cell.first + cell.size++;
    std::copy_n(x, D, entries_[entry].x.begin());
    entries_[entry].handle = handle;
    entries_[entry].outside = 0;
    cell_of_[handle] = c;
    entry_of_[handle] = entry;
  }

  std::uint32_t cell_at(std::uint64_t key) {
    const std::uint32_t found = map_.find(key);
    if (found != kNone) return found;
    std::uint32_t c = 0;
    if (free_cells_.empty()) {
      c = static_cast<std::uint32_t>(cells_.size());
      cells_.emplace_back();
      around_.emplace_back();
    } else {
      c = free_cells_.back();
      free_cells_.pop_back();
    }
    cells_[c] = {};
    cells_[c].key = key;
    around_[c].present = {};
    map_.insert(key, c);
    new_cells_.push_back(c);
    return c;
  }

  /// Moves the points of a cell to a place with another room.
  void move_to_room(Cell& cell, std::uint32_t room) {
    const std::uint32_t first = take_room(room);
    const std::uint32_t old = cell.first;
    for (std::uint32_t i = 0; i < cell.size; ++i) move_entry(old + i, first + i);
    if (cell.room > 0) free_rooms_[room_class(cell.room)].push_back(old);
    cell.first = first;
    cell.room = room;
  }

  [[nodiscard]] static std::size_t room_class(std::uint32_t room) noexcept {
    return static_cast<std::size_t>(std::countr_zero(room));
  }

  std::uint32_t take_room(std::uint32_t room) {
    auto& free = free_rooms_[room_class(room)];
    if (!free.empty()) {
      const std::uint32_t first = free.back();
      free.pop_back();
      return first;
    }
    const std::size_t first = entries_.size();
    entries_.resize(first + room);
    return static_cast<std::uint32_t>(first);
  }

  /// Ties new cells to the cells around them.
  void find_cells_around() {
    parallel_ranges(new_cells_.size(), 256, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const std::uint32_t c = new_cells_[i];
        for (std::uint32_t number = 0; number < kAround<D>; ++number)
          map_.fetch(frame_.key_around(cells_[c].key, number));
        for (std::uint32_t number = 0; number < kAround<D>; ++number) {
          if (number == kSelf<D>) continue;
          const std::uint32_t found = map_.find(frame_.key_around(cells_[c].key, number));
          if (found == kNone) continue;
          // Of two new cells either may make both entries, which are the same.
          tie(c, number, found);
          tie(found, opposite<D>(number), c);
        }
      }
    });
  }

  void tie(std::uint32_t c, std::uint32_t number, std::uint32_t other) noexcept {
    std::atomic_ref(around_[c].cells[number]).store(other, std::memory_order_relaxed);
    std::atomic_ref(around_[c].present[number / 64])
        .fetch_or(std::uint64_t{1} << (number % 64), std::memory_order_relaxed);
  }

  /// Between minpts and twice as many points a cell stays as it is, so that few points that come and go cost little.
  void choose_counting(Cell& cell) noexcept {
    if (cell.counting == Counting::counted && cell.size >= 2 * std::uint64_t{minpts_}) cell.counting = Counting::none;
    if (cell.counting == Counting::none && cell.size < minpts_) cell.counting = Counting::anew;
  }

  /// Adds the changes of a cell to the numbers of neighbours around it, and counts the neighbours of its new points.
  template <bool shared>
  void count_changes(std::uint32_t c, std::vector<std::uint32_t>& touched) {
    const Cell& cell = cells_[c];
    for (std::uint32_t i = cell.first_left; i != kNone; i = left_[i].next) {
      const auto& x = left_[i].x;
      const auto distances = this->distances(x.data());
      for_each_around(c, [&](std::uint32_t number, std::uint32_t other) {
        if (!distances.reaches(number) || cells_[other].counting != Counting::counted) return;
        if (add<shared>(x, cells_[other], ~std::uint32_t{0}) > 0) touch<shared>(other, touched);
      });
    }
    for (std::uint32_t i = cell.stayed; i < cell.size; ++i) {
      const std::uint32_t entry = cell.first + i;
      const auto& x = point(entry);
      const auto distances = this->distances(x.data());
      std::uint32_t neighbors = 0;
      for_each_around(c, [&](std::uint32_t number, std::uint32_t other) {
        if (!distances.reaches(number)) return;
        const Cell& near_cell = cells_[other];
        std::uint32_t begin = near_cell.first;
        if (near_cell.counting == Counting::counted) {
          const std::uint32_t found = add<shared>(x, near_cell, 1);
          if (found > 0) touch<shared>(other, touched);
          neighbors += found;
          begin += stayed_of(near_cell);
        }
        if (cell.counting == Counting::counted) neighbors += near_in(x, begin, near_cell.first + near_cell.size);
      });
      entries_[entry].outside = neighbors;
    }
  }

  [[nodiscard]] static std::uint32_t stayed_of(const Cell& cell) noexcept {
    return cell.changed ? cell.stayed : cell.size;
  }

  /// Adds `change` to the numbers of neighbours of the near points that did not just arrive. Returns how many they are.
  template <bool shared>
  std::uint32_t add(const std::array<double, D>& x, const Cell& cell, std::uint32_t change) {
    const std::uint32_t end = cell.first + stayed_of(cell);
    std::uint32_t found = 0;
    for (std::uint32_t entry = cell.first; entry < end; ++entry) {
      if (!near(x, entry)) continue;
      ++found;
      if constexpr (shared) {
        std::atomic_ref(entries_[entry].outside).fetch_add(change, std::memory_order_relaxed);
      } else {
        entries_[entry].outside += change;
      }
    }
    return found;
  }

  [[nodiscard]] std::uint32_t near_in(const std::array<double, D>& x, std::uint32_t begin, std::uint32_t end) const {
    std::uint32_t found = 0;
    for (std::uint32_t entry = begin; entry < end; ++entry) found += near(x, entry) ? 1 : 0;
    return found;
  }

  void count_anew(std::uint32_t c) {
    const Cell& cell = cells_[c];
    for (std::uint32_t entry = cell.first; entry < cell.first + cell.size; ++entry) {
      const auto& x = point(entry);
      const auto distances = this->distances(x.data());
      std::uint32_t neighbors = 0;
      for_each_around(c, [&](std::uint32_t number, std::uint32_t other) {
        if (!distances.reaches(number)) return;
        neighbors += near_in(x, cells_[other].first, cells_[other].first + cells_[other].size);
      });
      entries_[entry].outside = neighbors;
    }
  }

  template <bool shared>
  void touch(std::uint32_t c, std::vector<std::uint32_t>& touched) {
    if constexpr (shared) {
      if (std::atomic_ref(touched_flags_[c]).exchange(1, std::memory_order_relaxed) != 0) return;
    } else {
      if (touched_flags_[c] != 0) return;
      touched_flags_[c] = 1;
    }
    touched.push_back(c);
  }

  void append(std::vector<std::uint32_t>& all, const std::vector<std::uint32_t>& some) {
    const std::scoped_lock lock(mutex_);
    all.insert(all.end(), some.begin(), some.end());
  }

  /// Drops the cells that have been empty longest, if a fifth of all are empty. Others wait for points to come back.
  void drop_empty_cells() {
    const std::size_t most = cells_.size() / 5 + 64;
    const std::size_t at_once = 2 * new_cells_.size() + 64;
    for (std::size_t dropped = 0; empty_.size() - next_empty_ > most && dropped < at_once;) {
      const std::uint32_t c = empty_[next_empty_++];
      Cell& cell = cells_[c];
      cell.listed = false;
      if (cell.size > 0) continue;  // it has points again
      ++dropped;
      for_each_around(c, [&](std::uint32_t number, std::uint32_t other) {
        around_[other].present[opposite<D>(number) / 64] &= ~(std::uint64_t{1} << (opposite<D>(number) % 64));
      });
      map_.erase(cell.key);
      free_rooms_[room_class(cell.room)].push_back(cell.first);
      cell.room = 0;
      free_cells_.push_back(c);
    }
    if (2 * next_empty_ > empty_.size()) {
      empty_.erase(empty_.begin(), empty_.begin() + static_cast<std::ptrdiff_t>(next_empty_));
      next_empty_ = 0;
    }
  }

  CellFrame<D> frame_;
  double limit_;
  std::uint32_t minpts_;

  std::vector<Cell> cells_;
  std::vector<Around> around_;
  CellMap map_;
  std::vector<std::uint32_t> free_cells_;
  std::vector<std::uint32_t> empty_;  ///< cells in the order in which they became empty, from next_empty_ on
  std::size_t next_empty_ = 0;

  std::vector<Entry> entries_;
  std::array<std::vector<std::uint32_t>, 32> free_rooms_;  ///< by the logarithm of their size

  // Of each handle.
  std::vector<std::uint32_t> cell_of_;
  std::vector<std::uint32_t> entry_of_;

  // Of the step.
  std::vector<Left> left_;
  std::vector<std::uint32_t> changed_;
  std::vector<std::uint32_t> touched_;
  std::vector<std::uint8_t> touched_flags_;
  std::vector<std::uint32_t> new_cells_;
  std::mutex mutex_;
};

}  // namespace epsflow::windows
