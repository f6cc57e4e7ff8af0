// An index of tiles: an order that keeps points close in any number of dimensions, and tiles that may hold neighbours.
#pragma once

#include <optional>

#include <epsflow/core/cancel.hpp>
#include <epsflow/index/layers.hpp>
#include <epsflow/index/search_index.hpp>
#include <epsflow/index/tile_bounds.hpp>

namespace epsflow::index {

/// A bundle is a tile of kTilePoints positions. Its candidates are the points of all tiles that may hold neighbours: no
/// layer function (layer_function.hpp) has intervals on both tiles that are more than one reach apart.
class TileIndex final : public SearchIndex {
 public:
  /// Sorts points by layers of the given kind. Without a kind, points stay in the order of ids and every point is a
  /// candidate of every other, as required by spaces that are not plain. O(n·d) and a radix sort, in parallel. Throws
  /// Cancelled.
  TileIndex(PointsView points, double eps, std::optional<LayerKind> kind, const CancelToken& cancel,
            const Space& space = {});

  [[nodiscard]] const TileBounds& bounds() const noexcept { return bounds_; }

  void start_walk(std::size_t, BundleWalk&) const override {}
  /// O(tiles / kBlockTiles + kBlockTiles · blocks that are not apart), little beside the search of the points.
  void find_ranges(std::size_t bundle, BundleWalk& walk) const override;

  [[nodiscard]] std::uint64_t bytes() const noexcept override;

 private:
  TileBounds bounds_;
};

}  // namespace epsflow::index
