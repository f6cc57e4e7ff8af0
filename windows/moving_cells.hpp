// The points of a window in cells, and the number of neighbours of each, which are updated as points come and go.
//
// The points of a block of 64 cells follow each other in memory, cell by cell. A step makes the blocks anew in which
// points come or go; then each point near these has as many neighbours more or less, found block by block, so that
// threads share nothing. A cell with many points counts nothing at all: each of its points is core.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <epsflow/core/parallel.hpp>
#include <epsflow/windows/block_map.hpp>
#include <epsflow/windows/cell_frame.hpp>

namespace epsflow::windows {

/// Points [m × D] that arrive, and the number of each, which it keeps while it stays (windows/window_rows.hpp).
struct Arrivals {
  std::span<const std::uint32_t> handles;
  std::span<const double> x;
};

/// Calls body(begin, end) for ranges of `count` blocks, or of other pieces of work that take about a microsecond each:
/// once for all if there are fewer than 128, else in parallel.
template <class Body>
void in_parts(std::size_t count, Body&& body) {
  constexpr std::size_t kFew = 128, kGrain = 32;
  if (count < kFew) return body(std::size_t{0}, count);
  parallel_ranges(count, kGrain, [&](std::size_t begin, std::size_t end) { body(begin, end); });
}

/// A cell has the number 64 · (number of its block) + (index in it). A step is: change(), then count() for each
/// affected block, then the cells can be read, then end(). "Cells around a cell" are those up to two slots away on each
/// axis (windows/cell_frame.hpp); all neighbours of its points are in these.
template <std::size_t D>
class MovingCells {
 public:
  struct Point {
    std::array<double, D> x;
    std::uint32_t handle;
    std::uint32_t neighbors;  ///< itself included; of no meaning in a dense cell
  };

  /// A point that arrived or left in this step.
  struct PointChange {
    std::array<double, D> x;
    std::uint32_t handle;
    std::uint32_t cell;
    bool arrives;
  };

  struct CellBlock {
    std::uint64_t key = 0;
    std::uint64_t occupied = 0;  ///< the cells with points
    /// The dense cells. A cell becomes dense at twice the largest minpts points, and stays so until it has fewer than
    /// the largest minpts.
    std::uint64_t dense = 0;
    std::uint64_t flipped = 0;  ///< in this step: cells that are dense now and were not, or the reverse
    std::uint32_t first = 0;    ///< its points are [first, first + size)
    std::uint32_t size = 0;
    std::uint32_t capacity = 0;       ///< there are slots for this number of points
    std::uint32_t begin_changes = 0;  ///< in this step: of its changes
    std::uint32_t end_changes = 0;
    std::array<std::uint32_t, kBlocksAround<D>> around;  ///< blocks around it; kNone if there is none
  };

  /// A point, and its cell.
  struct Touched {
    std::uint32_t cell;
    std::uint32_t point;  ///< as for point()
    bool arrived = false;
  };
  /// What count() found in a block.
  struct BlockCount {
    std::vector<Touched> touched;  ///< points that arrived, changed their number of neighbours, or are in flipped cells
    std::vector<std::uint32_t> before;  ///< memory for numbers of neighbours
  };

  /// The limits of fits(). Numbers of cells stay below kNone, and groups, of which there may be several times as
  /// many as points, have numbers of 30 bits.
  static constexpr std::size_t kMostBlocks = (std::size_t{1} << 26) - 1;
  static constexpr std::size_t kMostPoints = std::size_t{1} << 30;

  /// radius: of neighbourhoods, at least 2^-500. largest_minpts: the largest minpts that is_core() will be called with.
  MovingCells(double radius, std::uint32_t largest_minpts, const CellFrame<D>& frame)
      : frame_(frame), limit_(radius * radius), minpts_(largest_minpts) {}

  /// Begins a step: removes and adds points. leaving: handles. handles: all handles are less.
  void change(std::span<const std::uint32_t> leaving, const Arrivals& arriving, std::size_t handles) {
    if (cell_of_.size() < handles) cell_of_.resize(handles, kNone);
    list_changes(leaving, arriving);
    share_changes();
    affected_flags_.assign(blocks_.size(), 0);
    in_parts(changed_.size(), [&](std::size_t begin, std::size_t end) {
      std::vector<Point> points;
      for (std::size_t i = begin; i < end; ++i) {
        make_anew(changed_[i], points);
        mark_affected(changed_[i].block);
      }
    });
    for (const ChangedBlock& changed : changed_) {
      const CellBlock& block = blocks_[changed.block];
      if (block.first != changed.old_first) release_slots(changed.old_first, changed.old_capacity);
    }
    affected_.clear();
    for (std::uint32_t b = 0; b < affected_flags_.size(); ++b) {
      if (affected_flags_[b] != 0) affected_.push_back(b);
    }
  }

  /// Returns the blocks in which points arrived or left, or with points whose neighbours may have changed. Ascending.
  [[nodiscard]] std::span<const std::uint32_t> affected() const noexcept { return affected_; }

  /// Brings the numbers of neighbours in an affected block up to date, and sets counted.touched. Several threads may do
  /// so for different blocks.
  void count(std::uint32_t b, BlockCount& counted) {
    const CellBlock& block = blocks_[b];
    counted.before.resize(block.size);
    for (std::uint32_t i = 0; i < block.size; ++i) counted.before[i] = points_[block.first + i].neighbors;
    std::uint64_t reached = block.flipped, arrivals = 0;  // cells
    for (std::uint32_t number = 0; number < kBlocksAround<D>; ++number) {
      if (block.around[number] == kNone) continue;
      for (const PointChange& change : changes(block.around[number])) {
        reached |= add(change, opposite_block<D>(number), b);
        if (number == kBlocksAround<D> / 2 && change.arrives)
          arrivals |= std::uint64_t{1} << (change.cell % kBlockCells);
      }
    }
    counted.touched.clear();
    for_each_in(block.occupied & reached, [&](std::uint32_t cell) {
      const std::uint64_t bit = std::uint64_t{1} << cell;
      const std::uint32_t c = b * kBlockCells + cell, end = end_of(c), begin = begin_of(c);
      const std::uint32_t first_arrived = (arrivals & bit) != 0 ? end - arrived(c) : end;
      const bool dense = (block.dense & bit) != 0, flipped = (block.flipped & bit) != 0;
      for (std::uint32_t i = dense && !flipped ? first_arrived : begin; i < end; ++i) {
        if (!dense && (flipped || i >= first_arrived)) points_[i].neighbors = count_all(c, points_[i].x);
        if (flipped || i >= first_arrived || points_[i].neighbors != counted.before[i - block.first]) {
          counted.touched.push_back({c, i, i >= first_arrived});
        }
      }
    });
  }

  /// Forgets the changes of the step, and removes blocks without points.
  void end() {
    for (const ChangedBlock& changed : changed_) {
      CellBlock& block = blocks_[changed.block];
      block.begin_changes = block.end_changes = 0;
      block.flipped = 0;
      if (block.size == 0) drop(changed.block);
    }
    changed_.clear();
    changes_.clear();
  }

  /// Returns the number of blocks, some of which may have no points. Numbers are used again once a block is gone.
  [[nodiscard]] std::size_t blocks() const noexcept { return blocks_.size(); }
  [[nodiscard]] const CellBlock& block(std::uint32_t b) const noexcept { return blocks_[b]; }
  /// Returns false if a step in which this number of points arrives might exceed kMostBlocks or kMostPoints. A block
  /// that gets new slots gets at most four for each of its points.
  [[nodiscard]] bool fits(std::size_t arriving) const noexcept {
    return blocks_.size() + arriving <= kMostBlocks && 5 * points_.size() + 4 * arriving <= kMostPoints;
  }
  /// Returns the points that arrived in block b or left it in this step, by cell.
  [[nodiscard]] std::span<const PointChange> changes(std::uint32_t b) const noexcept {
    const CellBlock& block = blocks_[b];
    return {changes_.data() + block.begin_changes, block.end_changes - block.begin_changes};
  }
  /// The points of a cell are [begin_of(c), end_of(c)), those that arrived in this step last.
  [[nodiscard]] std::uint32_t begin_of(std::uint32_t c) const noexcept {
    const std::uint32_t b = c / kBlockCells, cell = c % kBlockCells;
    return blocks_[b].first + (cell == 0 ? 0 : ends_[b][cell - 1]);
  }
  [[nodiscard]] std::uint32_t end_of(std::uint32_t c) const noexcept {
    return blocks_[c / kBlockCells].first + ends_[c / kBlockCells][c % kBlockCells];
  }
  [[nodiscard]] bool dense(std::uint32_t c) const noexcept { return bit(blocks_[c / kBlockCells].dense, c); }
  /// Returns true if the cell was dense before the step and is dense now: all its points were and are core for every
  /// minpts.
  [[nodiscard]] bool stays_dense(std::uint32_t c) const noexcept {
    const CellBlock& block = blocks_[c / kBlockCells];
    return bit(block.dense & ~block.flipped, c);
  }
  /// Returns the number of points that arrived in a cell in this step.
  [[nodiscard]] std::uint32_t arrived(std::uint32_t c) const noexcept {
    std::uint32_t count = 0;
    for (const PointChange& change : changes_in(c)) count += change.arrives ? 1 : 0;
    return count;
  }
  /// Returns the number of slots of points, some of which are empty. Points may be in other slots after each step.
  [[nodiscard]] std::size_t points() const noexcept { return points_.size(); }
  [[nodiscard]] const Point& point(std::uint32_t i) const noexcept { return points_[i]; }
  /// Returns true if point i, which is in cell c, has at least minpts neighbours. minpts: at most the largest.
  [[nodiscard]] bool is_core(std::uint32_t c, std::uint32_t i, std::uint32_t minpts) const noexcept {
    return points_[i].neighbors >= minpts ? true : dense(c);
  }

  /// Returns the cell with a number around c. Its block must exist.
  [[nodiscard]] std::uint32_t around(std::uint32_t c, std::uint32_t number) const noexcept {
    const RelativeCell other = kRelativeCells<D>[c % kBlockCells][number];
    return blocks_[c / kBlockCells].around[other.block] * kBlockCells + other.cell;
  }
  /// Calls f(block, cells) for each existing block with cells around c, c included. cells: these as bits, with or
  /// without points.
  template <class F>
  void for_each_block_around(std::uint32_t c, F&& f) const {
    const CellBlock& block = blocks_[c / kBlockCells];
    const Surroundings<D>& near = kSurroundings<D>[c % kBlockCells];
    for (std::uint32_t i = 0; i < near.count; ++i) {
      const std::uint32_t other = block.around[near.blocks[i].number];
      if (other != kNone) f(other, near.blocks[i].cells);
    }
  }
  /// Calls f(number, cell) for the cells around c, without c, that are in the set of cells chosen(block) of their
  /// block. number: of the cell around c.
  template <class Chosen, class F>
  void for_each_around(std::uint32_t c, Chosen&& chosen, F&& f) const {
    const std::uint32_t b = c / kBlockCells, own = c % kBlockCells;
    const Surroundings<D>& near = kSurroundings<D>[own];
    for (std::uint32_t i = 0; i < near.count; ++i) {
      const auto& of_block = near.blocks[i];
      const std::uint32_t other = blocks_[b].around[of_block.number];
      if (other == kNone) continue;
      for_each_in(of_block.cells & chosen(other), [&](std::uint32_t cell) {
        if (other == b && cell == own) return;
        f(number_around<D>(own, {of_block.number, static_cast<std::uint8_t>(cell)}), other * kBlockCells + cell);
      });
    }
  }

  /// Calls f(cell, i) for each point i in a cell around c, c included, that is not dense. i: as for point().
  template <class F>
  void for_each_sparse(std::uint32_t c, F&& f) const {
    for_each_block_around(c, [&](std::uint32_t b, std::uint64_t cells) {
      for_each_in(cells & blocks_[b].occupied & ~blocks_[b].dense, [&](std::uint32_t cell) {
        const std::uint32_t other = b * kBlockCells + cell;
        for (std::uint32_t i = begin_of(other); i < end_of(other); ++i) f(other, i);
      });
    });
  }

  [[nodiscard]] typename CellFrame<D>::SquaredDistances distances(const std::array<double, D>& x) const noexcept {
    return {frame_, x.data()};
  }
  /// Returns true if two points are neighbours.
  [[nodiscard]] bool near(const std::array<double, D>& x, const std::array<double, D>& y) const noexcept {
    double sum = 0;
    for (std::size_t k = 0; k < D; ++k) {
      const double diff = x[k] - y[k];
      sum += diff * diff;
    }
    return sum <= limit_;
  }
  /// Returns the largest squared distance of neighbours.
  [[nodiscard]] double limit() const noexcept { return limit_; }
  [[nodiscard]] const CellFrame<D>& frame() const noexcept { return frame_; }

  [[nodiscard]] std::uint64_t bytes() const noexcept {
    return blocks_.capacity() * (sizeof(CellBlock) + sizeof(ends_[0]) + 1) + map_.bytes() +
           points_.capacity() * sizeof(Point) + cell_of_.capacity() * sizeof(std::uint32_t) +
           changes_.capacity() * (sizeof(PointChange) + sizeof(std::uint64_t));
  }

 private:
  static constexpr std::uint32_t kMinCapacity = 4;

  /// A block with changes, and where its points were before.
  struct ChangedBlock {
    std::uint32_t block, old_first, old_capacity;
  };

  [[nodiscard]] static bool bit(std::uint64_t cells, std::uint32_t c) noexcept {
    return (cells >> (c % kBlockCells) & 1U) != 0;
  }

  /// Makes the list of changes, by cell; in each the points that leave come first.
  void list_changes(std::span<const std::uint32_t> leaving, const Arrivals& arriving) {
    const std::size_t m = arriving.handles.size();
    const std::vector<std::uint32_t> cells = cells_of(arriving);
    order_.resize(leaving.size() + m);
    for (std::size_t i = 0; i < leaving.size(); ++i) {
      order_[i] = std::uint64_t{std::exchange(cell_of_[leaving[i]], kNone)} << 32 | i;
    }
    for (std::size_t i = 0; i < m; ++i) {
      order_[leaving.size() + i] = std::uint64_t{cells[i]} << 32 | (leaving.size() + i);
    }
    parallel_sort(order_);
    changes_.resize(order_.size());
    parallel_ranges(order_.size(), 1 << 12, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const auto at = static_cast<std::uint32_t>(order_[i]);
        PointChange& change = changes_[i];
        change.cell = static_cast<std::uint32_t>(order_[i] >> 32);
        change.arrives = at >= leaving.size();
        if (!change.arrives) continue;  // make_anew() adds the point
        change.handle = arriving.handles[at - leaving.size()];
        std::copy_n(arriving.x.data() + (at - leaving.size()) * D, D, change.x.begin());
        cell_of_[change.handle] = change.cell;
      }
    });
  }

  /// Returns the cell of each point that arrives.
  std::vector<std::uint32_t> cells_of(const Arrivals& arriving) {
    const std::size_t m = arriving.handles.size();
    std::vector<typename CellFrame<D>::Address> addresses(m);
    parallel_ranges(m, 1 << 12, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) addresses[i] = frame_.address_of(arriving.x.data() + i * D);
    });
    std::vector<std::uint32_t> cells(m);
    const auto find = [&](std::size_t i) { cells[i] = block_at(addresses[i].block) * kBlockCells + addresses[i].cell; };
    if (m <= blocks_.size()) {
      constexpr std::size_t kAhead = 8;
      for (std::size_t i = 0; i < m; ++i) {
        if (i + kAhead < m) map_.fetch(addresses[i + kAhead].block);
        find(i);
      }
      return cells;
    }
    // So that most blocks that are near each other have numbers near each other.
    std::vector<std::pair<std::uint64_t, std::uint32_t>> order(m);
    for (std::uint32_t i = 0; i < m; ++i) order[i] = {addresses[i].block, i};
    std::sort(order.begin(), order.end());
    for (const auto& [key, i] : order) find(i);
    return cells;
  }

  std::uint32_t block_at(std::uint64_t key) {
    const std::uint32_t found = map_.find(key);
    if (found != kNone) return found;
    std::uint32_t b = 0;
    if (free_blocks_.empty()) {
      b = static_cast<std::uint32_t>(blocks_.size());
      blocks_.emplace_back();
      ends_.emplace_back();
    } else {
      b = free_blocks_.back();
      free_blocks_.pop_back();
    }
    CellBlock& block = blocks_[b];
    block = {};
    block.key = key;
    ends_[b].fill(0);
    map_.insert(key, b);
    for (std::uint32_t number = 0; number < kBlocksAround<D>; ++number) {
      const std::uint32_t other = map_.find(frame_.key_around(key, number));
      block.around[number] = other;
      if (other != kNone) blocks_[other].around[opposite_block<D>(number)] = b;
    }
    return b;
  }

  /// Drops a block without points.
  void drop(std::uint32_t b) {
    CellBlock& block = blocks_[b];
    for (std::uint32_t number = 0; number < kBlocksAround<D>; ++number) {
      const std::uint32_t other = block.around[number];
      if (other != kNone) blocks_[other].around[opposite_block<D>(number)] = kNone;
    }
    map_.erase(block.key);
    release_slots(block.first, block.capacity);
    block.capacity = 0;
    block.occupied = 0;
    free_blocks_.push_back(b);
  }

  /// Gives each block its changes, and slots for its points.
  void share_changes() {
    for (std::uint32_t i = 0; i < changes_.size();) {
      const std::uint32_t b = changes_[i].cell / kBlockCells;
      CellBlock& block = blocks_[b];
      block.begin_changes = i;
      std::uint32_t size = block.size;
      for (; i < changes_.size() && changes_[i].cell / kBlockCells == b; ++i) {
        size = changes_[i].arrives ? size + 1 : size - 1;
      }
      block.end_changes = i;
      changed_.push_back({b, block.first, block.capacity});
      if (size > block.capacity || (block.capacity > 2 * kMinCapacity && size < block.capacity / 4)) {
        block.capacity = std::bit_ceil(std::max(size, kMinCapacity));
        block.first = take_slots(block.capacity);
      }
    }
  }

  [[nodiscard]] static std::size_t capacity_class(std::uint32_t capacity) noexcept {
    return static_cast<std::size_t>(std::countr_zero(capacity));
  }
  std::uint32_t take_slots(std::uint32_t capacity) {
    auto& free = free_slots_[capacity_class(capacity)];
    if (!free.empty()) {
      const std::uint32_t first = free.back();
      free.pop_back();
      return first;
    }
    const std::size_t first = points_.size();
    points_.resize(first + capacity);
    return static_cast<std::uint32_t>(first);
  }
  void release_slots(std::uint32_t first, std::uint32_t capacity) {
    if (capacity > 0) free_slots_[capacity_class(capacity)].push_back(first);
  }

  /// Makes a block of the points that stay and those that arrive. points: memory.
  void make_anew(const ChangedBlock& changed, std::vector<Point>& points) {
    CellBlock& block = blocks_[changed.block];
    auto& ends = ends_[changed.block];
    points.clear();
    const auto copy = [&](std::uint32_t begin, std::uint32_t end) {
      points.insert(points.end(), points_.begin() + begin, points_.begin() + end);
    };
    std::uint32_t copied = changed.old_first;  // the points before it are done
    std::uint32_t cell = 0, more = 0;          // the ends before the cell are done, which grew by `more`, modulo 2^32
    for (std::uint32_t next = block.begin_changes; next < block.end_changes;) {
      const std::uint32_t c = changes_[next].cell;
      const std::uint64_t bit = std::uint64_t{1} << (c % kBlockCells);
      for (; cell < c % kBlockCells; ++cell) ends[cell] += more;
      const std::uint32_t begin = cell == 0 ? 0 : ends[cell - 1];
      const std::uint32_t old_begin = changed.old_first + begin - more, old_end = changed.old_first + ends[cell];
      copy(copied, old_begin);
      std::uint32_t at = old_begin;
      for (; next < block.end_changes && changes_[next].cell == c && !changes_[next].arrives; ++next) {
        for (; cell_of_[points_[at].handle] != kNone; ++at) points.push_back(points_[at]);
        changes_[next].x = points_[at].x;  // of several that leave the cell any may come first
        changes_[next].handle = points_[at++].handle;
      }
      copy(at, old_end);
      for (; next < block.end_changes && changes_[next].cell == c; ++next) {
        points.push_back({changes_[next].x, changes_[next].handle, 0});
      }
      copied = old_end;
      more = static_cast<std::uint32_t>(points.size()) - ends[cell];
      ends[cell++] += more;
      const std::uint32_t size = static_cast<std::uint32_t>(points.size()) - begin;
      block.occupied = size > 0 ? block.occupied | bit : block.occupied & ~bit;
      // Between minpts and twice as many points a cell stays as it is, so that few that come and go cost little.
      const bool dense = (block.dense & bit) != 0;
      if (dense ? size < minpts_ : size >= 2 * std::uint64_t{minpts_}) block.flipped |= bit;
    }
    for (; cell < kBlockCells; ++cell) ends[cell] += more;
    copy(copied, changed.old_first + block.size);
    block.dense ^= block.flipped;
    block.size = static_cast<std::uint32_t>(points.size());
    std::copy(points.begin(), points.end(), points_.begin() + block.first);
  }

  void mark_affected(std::uint32_t b) {
    std::uint32_t last = kNone;
    for (const PointChange& change : changes(b)) {
      if (std::exchange(last, change.cell) == change.cell) continue;
      for_each_block_around(change.cell, [&](std::uint32_t other, std::uint64_t) {
        std::atomic_ref(affected_flags_[other]).store(1, std::memory_order_relaxed);
      });
    }
  }

  [[nodiscard]] std::span<const PointChange> changes_in(std::uint32_t c) const noexcept {
    const std::span<const PointChange> all = changes(c / kBlockCells);
    const auto begin =
        std::partition_point(all.begin(), all.end(), [&](const PointChange& change) { return change.cell < c; });
    const auto end =
        std::partition_point(begin, all.end(), [&](const PointChange& change) { return change.cell == c; });
    return {begin, end};
  }

  /// Adds a change to the numbers of neighbours in block b, which has the number `number` around its own. Returns the
  /// cells that may have these neighbours.
  std::uint64_t add(const PointChange& change, std::uint32_t number, std::uint32_t b) {
    const Surroundings<D>& surroundings = kSurroundings<D>[change.cell % kBlockCells];
    const CellBlock& block = blocks_[b];
    const std::uint64_t not_counted = block.dense | block.flipped;
    const std::uint32_t more = change.arrives ? 1 : ~std::uint32_t{0};
    for (std::uint32_t i = 0; i < surroundings.count; ++i) {
      const auto& of_block = surroundings.blocks[i];
      if (of_block.number != number) continue;
      if ((of_block.cells & block.occupied & ~not_counted) == 0) return of_block.cells;
      for (std::uint32_t r = of_block.begin_runs; r < of_block.end_runs; ++r) {
        for_each_range(b, surroundings.runs[r], not_counted, [&](std::uint32_t begin, std::uint32_t end) {
          for (std::uint32_t at = begin; at < end; ++at) {
            points_[at].neighbors += near(change.x, points_[at].x) ? more : 0;
          }
        });
      }
      return of_block.cells;
    }
    return 0;
  }

  /// Calls f(begin, end) for the points of a run of cells, without the cells in `left_out`.
  template <class F>
  void for_each_range(std::uint32_t b, const CellRun& run, std::uint64_t left_out, F&& f) const {
    const std::uint32_t c = b * kBlockCells;
    const std::uint64_t cells = ((std::uint64_t{1} << (run.end - run.begin)) - 1) << run.begin;
    if ((cells & left_out) == 0) return f(begin_of(c + run.begin), end_of(c + run.end - 1U));
    for_each_in(cells & ~left_out, [&](std::uint32_t cell) { f(begin_of(c + cell), end_of(c + cell)); });
  }

  /// Returns the number of neighbours of a position in cell c.
  [[nodiscard]] std::uint32_t count_all(std::uint32_t c, const std::array<double, D>& x) const noexcept {
    const CellBlock& block = blocks_[c / kBlockCells];
    const Surroundings<D>& surroundings = kSurroundings<D>[c % kBlockCells];
    std::uint32_t count = 0;
    for (std::uint32_t i = 0; i < surroundings.count; ++i) {
      const auto& of_block = surroundings.blocks[i];
      const std::uint32_t b = block.around[of_block.number];
      if (b == kNone || (of_block.cells & blocks_[b].occupied) == 0) continue;
      for (std::uint32_t r = of_block.begin_runs; r < of_block.end_runs; ++r) {
        for_each_range(b, surroundings.runs[r], 0, [&](std::uint32_t begin, std::uint32_t end) {
          for (std::uint32_t at = begin; at < end; ++at) count += near(x, points_[at].x) ? 1 : 0;
        });
      }
    }
    return count;
  }

  CellFrame<D> frame_;
  double limit_;
  std::uint32_t minpts_;

  std::vector<CellBlock> blocks_;
  std::vector<std::array<std::uint32_t, kBlockCells>> ends_;  ///< of each block: of its cells, from `first` on
  BlockMap map_;
  std::vector<std::uint32_t> free_blocks_;
  std::vector<Point> points_;
  std::array<std::vector<std::uint32_t>, 32> free_slots_;  ///< by the logarithm of their size
  std::vector<std::uint32_t> cell_of_;                     ///< of each handle

  // Of the step.
  std::vector<std::uint64_t> order_;
  std::vector<PointChange> changes_;
  std::vector<ChangedBlock> changed_;
  std::vector<std::uint8_t> affected_flags_;
  std::vector<std::uint32_t> affected_;
};

}  // namespace epsflow::windows
