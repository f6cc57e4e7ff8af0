// The grid index: points sorted by cell, so that the candidates of a point are a few contiguous runs.
//
// Only non-empty cells are stored, so memory is O(n) whatever the extent. Within a cell points keep their input order.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <epsflow/core/buffer.hpp>
#include <epsflow/core/cancel.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/index/cell_axes.hpp>

namespace epsflow::index {

class Grid {
 public:
  /// Index of `points` for eps: cells for the given use over up to kMostIndexedDims dimensions. Keeps a copy of the
  /// coordinates, in their precision. O(n·d) and a radix sort, in parallel. Throws Cancelled.
  Grid(PointsView points, double eps, Cells cells, const CancelToken& cancel);

  [[nodiscard]] std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(order_.size()); }
  [[nodiscard]] std::size_t dims() const noexcept { return dims_; }
  [[nodiscard]] Precision precision() const noexcept { return precision_; }
  [[nodiscard]] double eps() const noexcept { return eps_; }
  /// Any two points of a cell are neighbours.
  [[nodiscard]] bool cliques() const noexcept { return cliques_; }
  /// Input id of each position. [n]
  [[nodiscard]] std::span<const std::uint32_t> order() const noexcept { return order_.span(); }

  [[nodiscard]] std::size_t cells() const noexcept { return cell_keys_.size(); }
  /// Keys of the non-empty cells, ascending. See CellKeys.
  [[nodiscard]] std::span<const std::uint64_t> cell_keys() const noexcept { return cell_keys_.span(); }
  /// First position of each cell, and n. [cells + 1]
  [[nodiscard]] std::span<const std::uint32_t> cell_starts() const noexcept { return cell_starts_.span(); }
  [[nodiscard]] std::size_t cell_of(std::uint32_t position) const noexcept;

  /// How cells are numbered, and where a cell's neighbours are.
  [[nodiscard]] const CellKeys& keys() const noexcept { return keys_; }

  /// Coordinate k of all points, by position; Buffer::kPadding bytes behind the end are readable. T must be the
  /// precision.
  template <class T>
  [[nodiscard]] const T* coordinates(std::size_t k) const noexcept {
    return reinterpret_cast<const T*>(coordinates_[k].data());
  }

  [[nodiscard]] std::uint64_t bytes() const noexcept;

 private:
  void sort_points(PointsView points, const CellAxes& chosen, const CancelToken& cancel);
  template <class Item, class Make, class Key, class Id>
  void sort_items(PointsView points, unsigned bits, Make make, Key key, Id id, const CancelToken& cancel);
  void copy_coordinates(PointsView points);

  std::size_t dims_ = 1;
  Precision precision_ = Precision::float64;
  double eps_ = 0;
  bool cliques_ = false;
  Buffer<std::uint32_t> order_;
  Buffer<std::uint64_t> cell_keys_;
  Buffer<std::uint32_t> cell_starts_;
  CellKeys keys_;
  std::vector<Buffer<std::byte>> coordinates_;
};

}  // namespace epsflow::index
