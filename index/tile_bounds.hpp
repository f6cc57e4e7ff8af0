// Finds the tiles of consecutive points that may hold neighbours, by the intervals of functions on them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <epsflow/core/buffer.hpp>
#include <epsflow/core/cancel.hpp>
#include <epsflow/core/candidate_bundles.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/index/layer_function.hpp>
#include <epsflow/index/layers.hpp>

namespace epsflow::index {

/// The interval of each function on each tile, and on each block of kBlockTiles tiles.
class TileBounds {
 public:
  /// Bound on the memory of intervals of tiles and blocks that have few points.
  static constexpr std::uint64_t kMostFixedBytes = 4 * kMostFunctions * sizeof(LayerInterval);

  /// Without functions, every pair of tiles may hold neighbours.
  explicit TileBounds(std::uint64_t points) : points_(points) {}
  /// Bounds for points in the given order. O(n·d), in parallel. Throws Cancelled.
  TileBounds(PointsView points, std::span<const std::uint32_t> order, const Layers& layers, const CancelToken& cancel);

  [[nodiscard]] std::uint64_t points() const noexcept { return points_; }
  [[nodiscard]] std::uint32_t tiles() const noexcept { return tiles_of(points_); }
  [[nodiscard]] std::uint32_t blocks() const noexcept { return tile_blocks_of(tiles()); }
  [[nodiscard]] std::uint32_t functions() const noexcept { return functions_; }
  /// Intervals of function f on all tiles and on all blocks.
  [[nodiscard]] std::span<const LayerInterval> of_tiles(std::uint32_t f) const noexcept {
    return tile_intervals_.span().subspan(std::size_t{f} * tiles(), tiles());
  }
  [[nodiscard]] std::span<const LayerInterval> of_blocks(std::uint32_t f) const noexcept {
    return block_intervals_.span().subspan(std::size_t{f} * blocks(), blocks());
  }
  /// At most kMostFixedBytes and two bytes per point.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return tile_intervals_.bytes() + block_intervals_.bytes(); }

 private:
  std::uint64_t points_;
  std::uint32_t functions_ = 0;
  Buffer<LayerInterval> tile_intervals_;
  Buffer<LayerInterval> block_intervals_;
};

/// Returns the pairs of tiles that may hold neighbours: each pair once, the first tile as the row; blocks of many pairs
/// first. Blocks that are apart as a whole are skipped at once. In parallel. Throws Cancelled.
[[nodiscard]] std::vector<TileBlock> list_tile_blocks(const TileBounds& bounds, const CancelToken& cancel);
/// Returns all pairs of tiles of n points.
[[nodiscard]] std::vector<TileBlock> list_all_tile_blocks(std::uint64_t points, const CancelToken& cancel);

[[nodiscard]] std::uint64_t count_tile_pairs(std::span<const TileBlock> blocks) noexcept;

/// Sets `ranges` to the tiles that one tile must be compared with, including itself, as ranges of positions: ascending,
/// not touching each other. They are the entries of list_tile_blocks() for the tile, without the memory of the list.
void list_tile_ranges(const TileBounds& bounds, std::uint32_t tile, std::vector<Range>& ranges);

}  // namespace epsflow::index
