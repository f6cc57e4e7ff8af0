#include <epsflow/index/tile_index.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

namespace epsflow::index {

TileIndex::TileIndex(PointsView points, double eps, std::optional<LayerKind> kind, const CancelToken& cancel,
                     const Space& space)
    : SearchIndex(points, eps, space), bounds_(points.size()) {
  if (kind) {
    PivotOrder layers(points, eps, *kind, cancel);
    bounds_ = TileBounds(points, layers.order(), layers.layers(), cancel);
    set_order(std::move(layers).take_order());
  } else {
    Buffer<std::uint32_t> ids(points.size());
    std::iota(ids.begin(), ids.end(), 0U);
    set_order(std::move(ids));
  }
  Buffer<std::uint32_t> starts(std::uint64_t{bounds_.tiles()} + 1);
  for (std::uint32_t tile = 0; tile < bounds_.tiles(); ++tile) starts[tile] = tile * kTilePoints;
  starts[bounds_.tiles()] = size();
  set_bundle_starts(std::move(starts));
  cancel.check();
  copy_coordinates(points);
}

void TileIndex::find_ranges(std::size_t bundle, BundleWalk& walk) const {
  list_tile_ranges(bounds_, static_cast<std::uint32_t>(bundle), walk.ranges);
}

std::uint64_t TileIndex::bytes() const noexcept { return SearchIndex::bytes() + bounds_.bytes(); }

}  // namespace epsflow::index
