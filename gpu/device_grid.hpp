// The grid index of one eps in device memory.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <epsflow/core/cancel.hpp>
#include <epsflow/core/neighbor_table.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/gpu/grid_view.hpp>
#include <epsflow/gpu/index_kernels.hpp>
#include <epsflow/gpu/memory.hpp>
#include <epsflow/gpu/stream.hpp>
#include <epsflow/index/cell_axes.hpp>

namespace epsflow::gpu {

/// The data set as the caller gave it, and what all its indexes share.
class DevicePoints {
 public:
  /// Copies the points to the device and finds their extents. `points` and `memory` must outlive it. Waits.
  DevicePoints(PointsView points, DeviceMemory& memory);

  /// Of points that are on the device already. `points` and `memory` must outlive it; the data must be aligned as
  /// cudaMalloc() aligns. host() has no coordinates then: index and clustering take host_for(). Waits.
  DevicePoints(PointsOnDevice points, DeviceMemory& memory);

  [[nodiscard]] PointsView host() const noexcept { return host_; }
  /// The points as index::choose_axes() needs them for this eps: brought to the host where they are on the device alone
  /// and more than their extents is looked at. Not thread-safe. May wait.
  [[nodiscard]] PointsView host_for(double eps) const;
  [[nodiscard]] PointsOnDevice device() const noexcept { return device_; }
  /// Of each dimension, or none where there are more than the index looks at.
  [[nodiscard]] std::span<const index::Extent> extents() const noexcept { return extents_; }

 private:
  void find_extents(DeviceMemory& memory);

  PointsView host_;
  bool host_has_points_ = true;
  mutable Points copied_;  // for host_for()
  PointsOnDevice device_;
  Stream stream_;
  DeviceBuffer<std::byte> data_;
  std::vector<index::Extent> extents_;
  StreamDrain drain_{stream_};  // before the memory above goes
};

/// Points sorted by cell: the same cells, the same order and the same candidate runs as index::Grid and
/// index::CandidateRuns have. Non-empty cells only.
class DeviceGrid {
 public:
  /// O(n·d) and a radix sort; then O(cells · 3^(axes − 1) · log cells). Waits. Throws DeviceOutOfMemory, Cancelled.
  DeviceGrid(const DevicePoints& points, double eps, DeviceMemory& memory, PinnedPool& pinned,
             const CancelToken& cancel);

  [[nodiscard]] std::uint32_t size() const noexcept { return view_.size; }
  [[nodiscard]] std::size_t dims() const noexcept { return view_.dims; }
  /// For work that is put on streams after the constructor has returned.
  [[nodiscard]] const GridView& view() const noexcept { return view_; }
  [[nodiscard]] const Stream& stream() const noexcept { return stream_; }
  /// Input id of each position. [host, pinned] [n]
  [[nodiscard]] std::span<const std::uint32_t> order() const noexcept {
    return {order_ == nullptr ? nullptr : order_->as<std::uint32_t>(), view_.size};
  }
  /// What keeps it in memory.
  [[nodiscard]] std::shared_ptr<const void> order_owner() const noexcept { return order_; }
  /// Bytes of host memory that the grid holds.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return order_ == nullptr ? 0 : order_->size(); }
  /// Words of a packed table.
  [[nodiscard]] std::uint64_t packed_words() const noexcept { return packed_words_; }
  /// Bytes of a packed table with its layout and counts.
  [[nodiscard]] std::uint64_t packed_bytes() const noexcept {
    return packed_words_ * sizeof(std::uint32_t) + runs_.bytes() + std::uint64_t{view_.size} * sizeof(std::uint32_t) +
           (std::uint64_t{view_.cells} + 1) * (sizeof(std::uint32_t) + 2 * sizeof(std::uint64_t));
  }
  /// Keys of the non-empty cells, ascending: for comparisons with the host's. Copies them. Waits.
  [[nodiscard]] std::vector<std::uint64_t> read_cell_keys() const;
  /// The layout of a packed table, in host memory. Copies it. Waits.
  [[nodiscard]] PackedLayout read_layout() const;

 private:
  template <class Key>
  void sort_points(const DevicePoints& points, const KeyMaker& maker, int bits, PinnedPool& pinned);

  DeviceMemory& memory_;
  Stream stream_;
  GridView view_;
  std::shared_ptr<const PinnedBytes> order_;
  DeviceBuffer<std::byte> coordinates_;
  DeviceBuffer<std::uint32_t> cell_of_;
  DeviceBuffer<std::uint32_t> cell_starts_;
  DeviceBuffer<std::uint64_t> cell_keys_;
  DeviceBuffer<std::uint64_t> run_offsets_;
  DeviceBuffer<std::uint64_t> cell_words_;
  DeviceBuffer<Run> runs_;
  std::uint64_t packed_words_ = 0;
  StreamDrain drain_{stream_};  // before the memory above goes
};

}  // namespace epsflow::gpu
