// The order of points by layers in device memory, and the pairs of tiles that may hold neighbours.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <epsflow/core/cancel.hpp>
#include <epsflow/core/choices.hpp>
#include <epsflow/gpu/base/memory.hpp>
#include <epsflow/gpu/base/stream.hpp>
#include <epsflow/gpu/grid/device_points.hpp>
#include <epsflow/gpu/tiles/layer_kernels.hpp>
#include <epsflow/index/layers.hpp>

namespace epsflow::gpu {

/// The order, intervals and list are the same as in index::PivotOrder, index::TileBounds and index::list_tile_blocks().
/// A position is the index of a point in this order. Each 128 consecutive positions are a tile.
class DeviceTileOrder {
 public:
  /// kind: IndexChoice::all keeps the order of the ids and all pairs of tiles; automatic takes the kind that prunes a
  /// sample best, or all if none prunes enough. O(n·d), a radix sort, O((n / 1024)²) tests of blocks. Waits. `memory`
  /// must outlive the object, the points need not. Throws DeviceError, Cancelled.
  DeviceTileOrder(const DevicePoints& points, double eps, IndexChoice kind, DeviceMemory& memory, PinnedPool& pinned,
                  const CancelToken& cancel);

  /// The kind that was chosen: grid, tree or all. Without points, the given kind.
  [[nodiscard]] IndexChoice kind() const noexcept { return kind_; }

  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
  /// Input id of each position. [device] [n]
  [[nodiscard]] const std::uint32_t* order() const noexcept { return order_.data(); }
  /// Input id of each position. [host, pinned] [n]
  [[nodiscard]] std::span<const std::uint32_t> host_order() const noexcept {
    return {host_order_ == nullptr ? nullptr : host_order_->as<std::uint32_t>(), size_};
  }
  /// Owns the memory of host_order().
  [[nodiscard]] std::shared_ptr<const void> order_owner() const noexcept { return host_order_; }

  /// The list of the pairs of tiles that may hold neighbours, in blocks of 8 × 8. [device] [block_count()]
  [[nodiscard]] const index::TileBlock* blocks() const noexcept { return blocks_.data(); }
  [[nodiscard]] std::uint64_t block_count() const noexcept { return counts_.blocks; }
  /// The number of pairs of tiles in the list.
  [[nodiscard]] std::uint64_t tile_pairs() const noexcept { return counts_.pairs; }
  [[nodiscard]] const Stream& stream() const noexcept { return stream_; }

  /// Returns [functions × tiles] the interval of each layer function on each tile, for comparison with the host's;
  /// nothing if the kind is all. Waits.
  [[nodiscard]] std::vector<index::LayerInterval> read_tile_intervals() const;

 private:
  [[nodiscard]] index::Layers choose_layers(const PointsOnDevice& device, double eps, const CancelToken& cancel);
  void sort_points(const DevicePoints& points, const index::LayersView& layers, int bits);

  DeviceMemory& memory_;
  Stream stream_;
  std::uint32_t size_ = 0;
  IndexChoice kind_ = IndexChoice::all;
  DeviceBuffer<std::uint32_t> order_;
  std::shared_ptr<const PinnedBytes> host_order_;
  DeviceBuffer<index::LayerInterval> tile_intervals_;
  DeviceBuffer<index::TileBlock> blocks_;
  TileBlockCounts counts_{0, 0};
  StreamDrain drain_{stream_};  // waits before the memory above is freed
};

}  // namespace epsflow::gpu
