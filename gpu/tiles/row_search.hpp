// Searches in which each point has its own radius, in any number of dimensions: all pairs are compared by products of
// half-precision factors, and what these leave is computed exactly.
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

/// Some of the points, rounded to factors of products. Real: float for half precision, or double.
template <class Real>
class RoundedRows {
 public:
  /// positions: null for all points. [device]
  RoundedRows(const OrderedPoints& points, const std::uint32_t* positions, std::uint32_t count, const TileFrame& frame,
              const Scratch& scratch);

  [[nodiscard]] const ProductTiles<Real>& tiles() const noexcept { return tiles_; }
  [[nodiscard]] std::uint32_t places() const noexcept { return tiles_.count * index::kTilePoints; }

 private:
  DeviceBuffer<std::uint32_t> ids_;
  DeviceBuffer<std::byte> slices_;
  DeviceBuffer<Real> bounds_;
  DeviceBuffer<FactorShape> shapes_;
  ProductTiles<Real> tiles_;
};

/// The points of a plain space, in an order that spreads neighbours in their rows. Real: float for products in half
/// precision, or double for float64 products, which are slower and tell more points apart. Move-only. The GPU must be
/// the current one in all calls. Its stream must outlive it.
template <class Real>
class RowSearch {
 public:
  /// Rounds all points. Returns nothing if this search is not for the points: it is for plain spaces. Waits. Throws
  /// DeviceError.
  [[nodiscard]] static std::optional<RowSearch> of(const DevicePoints& points, const GpuResources& gpu,
                                                   const Stream& stream);

  [[nodiscard]] const OrderedPoints& points() const noexcept { return points_; }
  [[nodiscard]] std::uint32_t column_tiles() const noexcept { return columns_->tiles().count; }

  /// Finds the nearest `length` other points of each position, as launch_sort_candidates() writes them. length: from 1
  /// to n − 1. Returns false if the products tell too few apart. Waits. Throws Cancelled, DeviceError.
  [[nodiscard]] bool nearest_lists(std::uint32_t length, std::uint32_t* lists, double* sums) const;

  /// Rounds the points at some positions. [device]
  [[nodiscard]] RoundedRows<Real> rows(const std::uint32_t* positions, std::uint32_t count) const;
  /// Lets rows take pairs of a sum below their limits, or infinity for all; rows of a negative limit take none.
  void bound(const RoundedRows<Real>& rows, const double* limits, std::uint32_t count) const;
  /// Adds candidates to the slots.
  void compare(const ProductTiles<Real>& rows, std::uint32_t first_column, std::uint32_t columns,
               const ColumnChoice& choice, const CandidateSlots<Real>& slots) const;
  /// Returns how many column tiles a launch for these rows may have at most, so that a cancelled run ends soon.
  [[nodiscard]] std::uint32_t most_columns(const ProductTiles<Real>& rows) const;

 private:
  RowSearch(const OrderedPoints& points, const GpuResources& gpu, cudaStream_t stream)
      : gpu_(gpu), stream_(stream), points_(points) {}

  GpuResources gpu_;
  cudaStream_t stream_;
  unsigned multiprocessors_ = 1;
  bool hopper_ = false;
  OrderedPoints points_;
  DeviceBuffer<std::uint32_t> order_;
  DeviceBuffer<double> centre_;
  TileFrame frame_;
  RowFrame row_frame_;
  std::optional<RoundedRows<Real>> columns_;
};

}  // namespace epsflow::gpu
