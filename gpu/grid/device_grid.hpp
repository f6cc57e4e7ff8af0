// The grid index of one eps in device memory.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <epsflow/core/cancel.hpp>
#include <epsflow/core/neighbor_table.hpp>
#include <epsflow/gpu/base/memory.hpp>
#include <epsflow/gpu/base/stream.hpp>
#include <epsflow/gpu/grid/device_points.hpp>
#include <epsflow/gpu/grid/grid_view.hpp>
#include <epsflow/gpu/grid/index_kernels.hpp>
#include <epsflow/index/cell_axes.hpp>

namespace epsflow::gpu {

/// Points sorted by cell, with the candidate ranges of each cell that is not empty, as in index/grid.hpp.
class DeviceGrid {
 public:
  /// The GPU must be the current one; points, memory and pinned must outlive the object. O(n·d), a radix sort, and
  /// O(n log n) if axes are cut at gaps; then O(cells · 3^(axes − 1) · log cells). Waits. Throws DeviceOutOfMemory,
  /// DeviceError, Cancelled.
  DeviceGrid(const DevicePoints& points, double eps, DeviceMemory& memory, PinnedPool& pinned,
             const CancelToken& cancel);

  [[nodiscard]] std::uint32_t size() const noexcept { return view_.size; }
  [[nodiscard]] std::size_t dims() const noexcept { return view_.dims; }
  /// The arrays may be used by work that is put on any stream after the constructor has returned.
  [[nodiscard]] const GridView& view() const noexcept { return view_; }
  [[nodiscard]] const Stream& stream() const noexcept { return stream_; }
  /// [n] the input id of each position, in pinned host memory.
  [[nodiscard]] std::span<const std::uint32_t> order() const noexcept {
    return {order_ == nullptr ? nullptr : order_->as<std::uint32_t>(), view_.size};
  }
  /// Owns the memory of order().
  [[nodiscard]] std::shared_ptr<const void> order_owner() const noexcept { return order_; }
  /// Bytes of host memory held by the grid.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return order_ == nullptr ? 0 : order_->size(); }
  /// Returns the 32-bit words of all rows of a packed table.
  [[nodiscard]] std::uint64_t packed_words() const noexcept { return packed_words_; }
  /// Returns the bytes of a packed table with its layout and counts.
  [[nodiscard]] std::uint64_t packed_bytes() const noexcept {
    return packed_words_ * sizeof(std::uint32_t) + ranges_.bytes() + std::uint64_t{view_.size} * sizeof(std::uint32_t) +
           (std::uint64_t{view_.cells} + 1) * (sizeof(std::uint32_t) + 2 * sizeof(std::uint64_t));
  }
  /// Returns the keys of the non-empty cells, ascending, for comparison with the host's. Waits.
  [[nodiscard]] std::vector<std::uint64_t> read_cell_keys() const;
  /// Returns the layout of a packed table in host memory. Waits.
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
  DeviceBuffer<std::uint64_t> range_offsets_;
  DeviceBuffer<std::uint64_t> cell_words_;
  DeviceBuffer<Range> ranges_;
  std::uint64_t packed_words_ = 0;
  StreamDrain drain_{stream_};  // waits before the memory above is freed
};

}  // namespace epsflow::gpu
