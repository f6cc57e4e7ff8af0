// Caches the window of each cell of a grid, which is the same at all levels of an eps.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include <epsflow/core/buffer.hpp>
#include <epsflow/core/candidate_bundles.hpp>
#include <epsflow/index/grid.hpp>

namespace epsflow::clustering {

/// Caches the window of each cell: the non-empty cells up to `reach` slots (cell widths) away on every axis, as one
/// range for each row of cells along the last axis (index::CellWindow, WindowRanges::rows). A default object caches
/// nothing. Threads may use it at the same time for different cells.
class CachedWindows {
 public:
  CachedWindows() = default;
  /// reach: at most CellKeys::window.
  CachedWindows(const index::Grid& grid, std::uint32_t reach)
      : rows_(rows(grid, reach)), ranges_(grid.cells() * rows_) {
    for (std::size_t cell = 0; cell < grid.cells(); ++cell) ranges_[cell * rows_].begin = kUnknown;
  }

  /// Returns the memory of an object in bytes.
  [[nodiscard]] static std::uint64_t bytes(const index::Grid& grid, std::uint32_t reach) {
    return std::uint64_t{grid.cells()} * rows(grid, reach) * sizeof(Range);
  }

  /// Returns false if the object caches nothing.
  [[nodiscard]] bool keeps() const noexcept { return rows_ > 0; }
  /// Returns the window of a cell; no ranges if it is not cached. The ranges may be empty.
  [[nodiscard]] std::span<const Range> of(std::uint32_t cell) const noexcept {
    const Range* const first = ranges_.data() + cell * rows_;
    return rows_ == 0 || first->begin == kUnknown ? std::span<const Range>() : std::span(first, rows_);
  }
  /// Caches the window of a cell. Call it only if keeps().
  void keep(std::uint32_t cell, std::span<const Range> around) noexcept {
    std::copy(around.begin(), around.end(), ranges_.data() + cell * rows_);
  }

 private:
  /// Returns the number of ranges of a window.
  [[nodiscard]] static std::size_t rows(const index::Grid& grid, std::uint32_t reach) {
    return grid.keys().ranges(reach, 1).offsets.size();
  }

  static constexpr std::uint32_t kUnknown = std::numeric_limits<std::uint32_t>::max();

  std::size_t rows_ = 0;
  Buffer<Range> ranges_;  ///< [cells × rows]
};

}  // namespace epsflow::clustering
