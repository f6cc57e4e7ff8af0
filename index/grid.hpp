// The grid index: points sorted by cell, so that the candidates of a point are a few contiguous ranges.
//
// Only non-empty cells are stored, so memory is O(n) for any extent. Within a cell, points keep their input order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <epsflow/core/buffer.hpp>
#include <epsflow/core/cancel.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/index/cell_axes.hpp>
#include <epsflow/index/search_index.hpp>

namespace epsflow::index {

class Grid final : public SearchIndex {
 public:
  /// Builds the index of `points` for eps, with cells for the given use over up to kMostIndexedDims dimensions. Keeps a
  /// copy of the coordinates, in their precision. O(n·d), a radix sort, and O(n log n) if axes are cut at gaps, in
  /// parallel. Throws Cancelled.
  Grid(PointsView points, double eps, Cells cells, const CancelToken& cancel, const Space& space = {});

  /// Returns true if any two points of a cell are neighbours.
  [[nodiscard]] bool dense_boxes() const noexcept { return dense_boxes_; }

  /// Each cell is a bundle.
  [[nodiscard]] std::size_t cells() const noexcept { return bundles(); }
  /// Keys of the non-empty cells, ascending. See CellKeys.
  [[nodiscard]] std::span<const std::uint64_t> cell_keys() const noexcept { return cell_keys_.span(); }
  /// First position of each cell, and n. [cells + 1]
  [[nodiscard]] std::span<const std::uint32_t> cell_starts() const noexcept { return bundle_starts(); }
  [[nodiscard]] std::size_t cell_of(std::uint32_t position) const noexcept { return bundle_of(position); }

  /// Returns the numbering of cells and of their neighbours.
  [[nodiscard]] const CellKeys& keys() const noexcept { return keys_; }

  /// Returns true if the points of two cells are in the same slice.
  [[nodiscard]] bool same_slice(std::size_t a, std::size_t b) const noexcept {
    return space().slices == nullptr || cell_keys_[a] / keys_.slice_stride == cell_keys_[b] / keys_.slice_stride;
  }

  /// A cell has up to (2·window + 1)^(axes − 1) ranges of neighbours, and up to twice as many at an end of a closed
  /// axis. As cells and their neighbours ascend together, the first cell of each range only moves forward: O(1)
  /// amortised per cell and range, plus a binary search per range at the start and at ends of a closed axis.
  void start_walk(std::size_t cell, BundleWalk& walk) const override;
  void find_ranges(std::size_t cell, BundleWalk& walk) const override;

  /// Computes the ranges of all cells and caches them if they take at most `most` bytes; walks then read the cache. In
  /// many dimensions most ranges are empty, and finding them took longer than comparing points. Must not run while a
  /// walk is in progress. In parallel. Throws Cancelled.
  void cache_ranges(std::uint64_t most, const CancelToken& cancel);

  /// Returns true if ranges are available around any point of the space, not only around points of the grid. This needs
  /// a plain space without slices and without axes that are cut at gaps, because a point within a gap may be near both
  /// of its sides.
  [[nodiscard]] bool supports_any_point() const noexcept { return point_axes_.has_value(); }
  /// Returns the key of the cell at a point, or at the nearest point within the extents of the grid. Returns kNowhere
  /// if the point is more than `window` slots beyond the extents, and so farther than eps from every point of the grid.
  /// Requires supports_any_point(). point: [dims], finite.
  [[nodiscard]] std::uint64_t key_at(const double* point) const noexcept;
  static constexpr std::uint64_t kNowhere = ~std::uint64_t{0};
  /// Sets walk.ranges to ranges that hold every point of the grid within eps of any point with that key: non-empty,
  /// ascending, not touching each other. key: from key_at(), but not kNowhere. A new walk is an empty BundleWalk; the
  /// keys of one walk ascend. O(log distance from the previous key) per range.
  void find_ranges_at(std::uint64_t key, BundleWalk& walk) const;

  [[nodiscard]] std::uint64_t bytes() const noexcept override {
    return SearchIndex::bytes() + cell_keys_.bytes() + cached_bytes_;
  }

 private:
  void sort_points(PointsView points, const CellAxes& chosen, const CancelToken& cancel);
  template <class Item, class Make, class Key, class Id>
  void sort_items(PointsView points, unsigned bits, Make make, Key key, Id id, const CancelToken& cancel);

  /// Appends the points of the cells from `first_cell` up to a key, as a new range or as an extension of the last.
  void add_range(std::size_t first_cell, std::uint64_t last_key, std::vector<Range>& ranges) const;

  /// Ranges of consecutive cells.
  struct CachedRanges {
    std::vector<std::uint32_t> ends;  ///< [cells] end of the ranges of each cell
    std::vector<Range> ranges;
  };

  bool dense_boxes_ = false;
  Buffer<std::uint64_t> cell_keys_;
  std::optional<std::vector<CellAxis>> point_axes_;  ///< set if supports_any_point()
  CellKeys keys_;
  std::vector<CachedRanges> cached_;  ///< one per block of cells; empty unless ranges are cached
  std::uint64_t cached_bytes_ = 0;
};

}  // namespace epsflow::index
