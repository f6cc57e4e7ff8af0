// Points by tiles: an order that keeps near points together in any number of dimensions, and tiles that may hold neighbours.
#pragma once

#include <optional>

#include <epsflow/core/cancel.hpp>
#include <epsflow/index/layers.hpp>
#include <epsflow/index/search_index.hpp>
#include <epsflow/index/tile_bounds.hpp>

namespace epsflow::index {

/// Bundles are tiles of kTilePoints positions; their candidates are all tiles that no function holds apart from them.
class TileIndex final : public SearchIndex {
 public:
  /// In the order of layers; without a kind in that of ids, and every point is a candidate of every other, as
  /// spaces that are not plain need it. O(n·d) and a radix sort, in parallel. Throws Cancelled.
  TileIndex(PointsView points, double eps, std::optional<LayerKind> kind, const CancelToken& cancel,
            const Space& space = {});

  [[nodiscard]] const TileBounds& bounds() const noexcept { return bounds_; }

  void start_walk(std::size_t, BundleWalk&) const override {}
  /// O(tiles / kBlockTiles + kBlockTiles · blocks that are not apart): little beside the search of the tile's points.
  void find_ranges(std::size_t bundle, BundleWalk& walk) const override;

  [[nodiscard]] std::uint64_t bytes() const noexcept override;

 private:
  TileBounds bounds_;
};

}  // namespace epsflow::index
