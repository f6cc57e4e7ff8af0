// The points of a window in the order of their arrival.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include <epsflow/core/points.hpp>

namespace epsflow::windows {

/// Each point has a handle, a small number that it keeps while it stays, and a row, which is its position in the order.
class WindowRows {
 public:
  WindowRows(std::size_t dims, bool timed, bool weighted) : dims_(dims), timed_(timed), weighted_(weighted) {}

  /// Points that arrive, of which some enter.
  struct Arriving {
    PointsView points;
    std::span<const double> times;
    std::span<const double> weights;
    /// [points] ascending, larger than the ids of all rows. If empty, row i of `points` has the id first_id + i.
    std::span<const std::uint64_t> ids;
    std::uint64_t first_id;
    std::span<const std::uint32_t> entering;  ///< rows of `points`, ascending
  };

  /// Appends the entering points, and removes the rows `leaving`, ascending. Until commit(), undo() restores the rows,
  /// also if change() threw. After commit(), undo() leaves the rows as they are.
  void change(const Arriving& arriving, std::span<const std::uint32_t> leaving);
  /// Makes the last change final.
  void commit() noexcept;
  /// After it entered() is empty, and for_each_stayed() passes each row as its own earlier row.
  void undo() noexcept;

  [[nodiscard]] std::size_t size() const noexcept { return rows_.size() - begin_; }
  /// Returns the handle of each row. [n]
  [[nodiscard]] std::span<const std::uint32_t> handles() const noexcept {
    return {rows_.data() + begin_, rows_.size() - begin_};
  }
  /// Return the handles of the points that the last change appended, and of the points that it removed, by row.
  [[nodiscard]] std::span<const std::uint32_t> entered() const noexcept {
    return {rows_.data() + rows_.size() - entered_, entered_};
  }
  [[nodiscard]] std::span<const std::uint32_t> left() const noexcept { return left_; }

  /// Calls f(row, earlier) for the rows [begin, end): their rows before the last change, or kNoRow if they are new.
  template <class F>
  void for_each_stayed(std::size_t begin, std::size_t end, F&& f) const {
    const std::size_t stayed = size() - entered_;
    // The number of leaving rows before a row: gaps_ has, for each of these, how many rows that stay are before it.
    auto gap = static_cast<std::size_t>(std::upper_bound(gaps_.begin(), gaps_.end(), begin) - gaps_.begin());
    for (std::size_t row = begin; row < end; ++row) {
      while (gap < gaps_.size() && gaps_[gap] <= row) ++gap;
      f(row, row < stayed ? row + gap : kNoRow);
    }
  }
  static constexpr std::size_t kNoRow = ~std::size_t{0};

  /// Returns the ids by handle; entries of handles that are not in use have no meaning.
  [[nodiscard]] std::span<const std::uint64_t> ids() const noexcept { return ids_; }
  [[nodiscard]] const double* point(std::uint32_t handle) const noexcept { return x_.data() + handle * dims_; }

  /// Returns the row of an id, or nullopt. O(log n).
  [[nodiscard]] std::optional<std::uint32_t> find(std::uint64_t id) const noexcept;
  /// Appends the rows with times before `oldest`, ascending. Needs times. O(log n + rows) if all times arrived in
  /// order. After a time that did not, O(n), until a call finds no such rows and all times in order.
  void list_before(double oldest, std::vector<std::uint32_t>& rows);

  /// Writes the coordinates of the rows. out: [n × d]
  void write_points(std::span<double> out) const;
  /// Return the times and weights of the rows, in order; empty if the points have none. [n]
  [[nodiscard]] std::vector<double> all_times() const { return in_order(times_); }
  [[nodiscard]] std::vector<double> all_weights() const { return in_order(weights_); }

  /// Returns about the memory for each point, in bytes, with the unused capacity of growing vectors.
  [[nodiscard]] std::uint64_t bytes_per_point() const noexcept {
    return 2 * (dims_ * sizeof(double) + sizeof(std::uint64_t) + 3 * sizeof(std::uint32_t)) +
           (timed_ ? sizeof(double) : 0) + (weighted_ ? sizeof(double) : 0);
  }

 private:
  /// Lets the handles of the last committed change be used again, which commit() leaves to the next step.
  void free_left();
  /// Makes undo() return to the rows as they are.
  void remember() noexcept;
  void append(const Arriving& arriving);
  void erase(std::span<const std::uint32_t> leaving) noexcept;
  /// Returns values in the order of rows. by_handle: times or weights; if it is empty, so is the result.
  [[nodiscard]] std::vector<double> in_order(const std::vector<double>& by_handle) const;

  std::size_t dims_;
  bool timed_;
  bool weighted_;

  // By handle.
  std::vector<double> x_;
  std::vector<std::uint64_t> ids_;
  std::vector<double> times_;
  std::vector<double> weights_;
  /// Handles to use again, from next_free_ on: first in, first out, so that they follow each other as rows do.
  std::vector<std::uint32_t> free_;
  std::size_t next_free_ = 0;

  std::vector<std::uint32_t> rows_;  ///< the handle of each row, from begin_ on
  std::size_t begin_ = 0;
  bool times_in_order_ = true;
  double last_time_ = -std::numeric_limits<double>::infinity();

  // Of the last change.
  std::size_t entered_ = 0;
  bool committed_ = false;  ///< and the handles in left_ are not free yet
  std::vector<std::uint32_t> left_;
  std::vector<std::size_t> gaps_;      ///< for each row that left: how many rows before it stay
  std::vector<std::uint32_t> before_;  ///< rows_ before the change; unused if only the first rows left, or none
  /// Sizes before the change.
  struct {
    std::size_t begin = 0;
    std::size_t rows = 0;
    std::size_t handles = 0;
    std::size_t next_free = 0;
    bool times_in_order = true;
    double last_time = -std::numeric_limits<double>::infinity();
    bool has_before = false;
  } undo_;
};

}  // namespace epsflow::windows
