// The input row of each point.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <epsflow/io/file_points.hpp>

namespace epsflow::io {

/// Walks through the rows that were read of all inputs, one file after the other. The inputs must outlive the object.
class RowWalker {
 public:
  explicit RowWalker(const std::vector<InputRows>& inputs) : inputs_(inputs) {}

  /// Returns the number of the point that the next row became, or kDropped. Call it at most once for each row.
  [[nodiscard]] std::size_t next() noexcept {
    while (row_ == inputs_[file_].rows) {
      ++file_;
      row_ = 0;
      dropped_ = 0;
    }
    const std::vector<std::uint64_t>& dropped = inputs_[file_].dropped;
    const bool is_dropped = dropped_ < dropped.size() && dropped[dropped_] == inputs_[file_].first + row_;
    ++row_;
    if (!is_dropped) return point_++;
    ++dropped_;
    return kDropped;
  }

  static constexpr std::size_t kDropped = static_cast<std::size_t>(-1);

 private:
  const std::vector<InputRows>& inputs_;
  std::size_t file_ = 0;
  std::uint64_t row_ = 0;    ///< of the rows read of the current file
  std::size_t dropped_ = 0;  ///< dropped rows of the current file before row_
  std::size_t point_ = 0;
};

/// Returns the input row of each point, [n]. Rows count from 0 through all files, including dropped rows and rows
/// outside of a share. Without inputs, returns 0 to n − 1. O(rows).
[[nodiscard]] std::vector<std::int64_t> row_numbers(const PointsOrigin& origin, std::uint64_t n);
[[nodiscard]] inline std::vector<std::int64_t> row_numbers(const FilePoints& points) {
  return row_numbers(points, points.size());
}

/// Removes points and their weights, as if the reader had dropped their rows. is_out: [n]. O(n·d).
void drop_points(FilePoints& points, const std::vector<bool>& is_out);

}  // namespace epsflow::io
