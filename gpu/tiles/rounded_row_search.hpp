// Searches in which each point has its own radius, in any number of dimensions: tiles of points are compared by
// products of rounded coordinates, and the sums of the remaining pairs are computed exactly.
#pragma once

#include <cstdint>
#include <optional>

#include <epsflow/gpu/base/gpu_resources.hpp>
#include <epsflow/gpu/base/memory.hpp>
#include <epsflow/gpu/base/stream.hpp>
#include <epsflow/gpu/grid/device_points.hpp>
#include <epsflow/gpu/tiles/row_candidates.hpp>
#include <epsflow/gpu/tiles/row_kernels.hpp>

namespace epsflow::gpu {

/// Some of the points, rounded to factors of products, with balls around their tiles. Real: float for half precision,
/// or double. Move-only.
template <class Real>
class RoundedRows {
 public:
  /// Rounds the points at `count` positions [device]; null: the first `count` ones. The stream must outlive the object.
  RoundedRows(const OrderedPoints& points, const std::uint32_t* positions, std::uint32_t count, const TileFrame& frame,
              const Scratch& scratch);

  /// Makes the balls, and the gaps between these tiles and the tiles of `columns`, which may be *this and otherwise
  /// must have been measured. Does nothing if there are more than 2^30 pairs of tiles. slack: a bound on the rounding
  /// of coordinates to the frame, as a distance.
  void measure(double slack, const RoundedRows& columns, const TileFrame& frame, const Scratch& scratch);

  [[nodiscard]] std::uint32_t count() const noexcept { return points_.size; }
  /// Returns the number of rows of the tiles: count(), rounded up to whole tiles.
  [[nodiscard]] std::uint32_t padded_count() const noexcept { return tiles_.count * index::kTilePoints; }
  [[nodiscard]] const ProductTiles<Real>& tiles() const noexcept { return tiles_; }
  /// [tiles] memory for launch_bound_rows()
  [[nodiscard]] std::uint32_t* reach() const noexcept { return reach_.data(); }
  /// [tiles] memory for launch_tile_components()
  [[nodiscard]] std::uint32_t* components() const noexcept { return components_.data(); }
  /// [tiles × tiles of columns] lower bounds on the distances between points of two tiles, in units of the frame; null
  /// if not measured
  [[nodiscard]] const float* gaps() const noexcept { return gaps_.data(); }

 private:
  [[nodiscard]] TileBalls balls() const noexcept {
    return {centres_.data(), radii_.data(), tiles_.count, points_.dims};
  }

  OrderedPoints points_;
  ProductTiles<Real> tiles_;
  DeviceBuffer<std::uint32_t> ids_;
  DeviceBuffer<std::byte> slices_;
  DeviceBuffer<Real> bounds_;
  DeviceBuffer<FactorShape> shapes_;
  DeviceBuffer<std::uint32_t> reach_, components_;
  DeviceBuffer<double> centres_, radii_;
  DeviceBuffer<float> gaps_;
};

/// The column tiles whose ranks in a scattered order are at least `from` and below `to`. band: which of them are
/// compared with a row tile (TilePairs::Band).
struct ColumnRange {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  TilePairs::Band band = TilePairs::Band::with;
};

/// The points of a plain space, in an order in which points that share their nearest pivot are together. Pairs of tiles
/// that are farther from each other than the radii of their rows are not compared, unless all points have more than
/// 2^30 pairs of tiles. Real: float for products in half precision, or double for float64 products, which are slower
/// and resolve smaller distances. Move-only. The GPU must be the current one in all calls. The points and the stream
/// must outlive the object.
template <class Real>
class RoundedRowSearch {
 public:
  /// Orders and rounds all points, for lists of `length` nearest points, from 1 to n − 1. Returns nothing if this
  /// search is not for the points: it is for plain spaces, for 2 to 2^25 points that are not all equal, and for
  /// coordinates of which the farthest is 2^-450 to 2^450 from the centre. Needs compute capability 8.0 or more.
  /// portable: uses no kernels of one compute capability. Waits. Throws DeviceError.
  [[nodiscard]] static std::optional<RoundedRowSearch> of(const DevicePoints& points, std::uint32_t length,
                                                          bool portable, const GpuResources& gpu, const Stream& stream);

  [[nodiscard]] const OrderedPoints& points() const noexcept { return points_; }
  [[nodiscard]] std::uint32_t column_tiles() const noexcept { return columns_->tiles().count; }

  /// Finds the `length` nearest other points of each position p, nearest first: writes the position of the i-th to
  /// lists[i · n + p], and its exact squared distance to sums[i · n + p]. [device] Returns false if the products
  /// distinguish too few of the points; the lists are not complete then. Call it once. Waits. Throws Cancelled,
  /// DeviceError.
  [[nodiscard]] bool nearest_lists(std::uint32_t* lists, double* sums);

  /// Rounds the points at `count` positions [device], and measures them if the columns are measured.
  [[nodiscard]] RoundedRows<Real> rows(const std::uint32_t* positions, std::uint32_t count) const;
  /// Adds candidates to the slots: all columns within the radii of the rows that `choice` permits, and some that are
  /// farther. values: [rows] their radii in units of the frame, or, if `limits` is true, their squared radii in the
  /// units of the points; negative: the row takes none. Waits for the list of tiles, not for the comparison.
  void compare(const RoundedRows<Real>& rows, const double* values, bool limits, const ColumnRange& columns,
               const ColumnChoice& choice, const CandidateSlots<Real>& slots) const;
  /// Returns how many column tiles, at least one, a launch for these rows should have at most, so that a cancelled run
  /// ends soon.
  [[nodiscard]] std::uint32_t most_columns(const RoundedRows<Real>& rows) const;

 private:
  RoundedRowSearch(const OrderedPoints& points, std::uint32_t length, const GpuResources& gpu, cudaStream_t stream);

  /// Rounds all points, and finds the facts for bounds (RowFrame).
  void round_all();
  void order_by_pivots();
  [[nodiscard]] double slack() const noexcept;
  void compare_with(const RoundedRows<Real>& rows, const RoundedRows<Real>& others, const RowRadii& radii,
                    const TilePairs& pairs, const ColumnChoice& choice, const CandidateSlots<Real>& slots) const;
  [[nodiscard]] Scratch scratch() const noexcept { return {gpu_.memory, stream_}; }

  GpuResources gpu_;
  cudaStream_t stream_;
  std::uint32_t length_;
  unsigned multiprocessors_;
  bool hopper_;
  OrderedPoints points_;
  DeviceBuffer<std::uint32_t> order_;
  DeviceBuffer<double> centre_;
  DeviceBuffer<double> radii_;  ///< [n] no less than the distance to the length-th nearest point
  TileFrame frame_;
  RowFrame row_frame_;
  std::optional<RoundedRows<Real>> columns_;
};

}  // namespace epsflow::gpu
