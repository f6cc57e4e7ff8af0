#include <epsflow/index/tile_bounds.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include <epsflow/core/checked.hpp>
#include <epsflow/core/parallel.hpp>

namespace epsflow::index {
namespace {

LayerInterval unite(LayerInterval a, LayerInterval b) { return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)}; }

struct TileRange {
  std::uint32_t begin;
  std::uint32_t end;
};
TileRange tiles_in(std::uint32_t block, std::uint32_t tiles) {
  return {block * kBlockTiles, std::min(tiles, (block + 1) * kBlockTiles)};
}

bool blocks_apart(const TileBounds& bounds, std::uint32_t a, std::uint32_t b) {
  for (std::uint32_t f = 0; f < bounds.functions(); ++f) {
    if (are_apart(bounds.of_blocks(f)[a], bounds.of_blocks(f)[b])) return true;
  }
  return false;
}

std::uint64_t pairs_between(const TileBounds& bounds, std::uint32_t rows, std::uint32_t columns) {
  const TileRange row_tiles = tiles_in(rows, bounds.tiles());
  const TileRange column_tiles = tiles_in(columns, bounds.tiles());
  std::uint64_t pairs = 0;
  for (std::uint32_t i = row_tiles.begin; i < row_tiles.end; ++i) {
    for (std::uint32_t j = std::max(i, column_tiles.begin); j < column_tiles.end; ++j) {
      pairs |= std::uint64_t{1} << (kBlockTiles * (i - row_tiles.begin) + (j - column_tiles.begin));
    }
  }
  for (std::uint32_t f = 0; f < bounds.functions() && pairs != 0; ++f) {
    const std::span<const LayerInterval> tiles = bounds.of_tiles(f);
    for (std::uint64_t left = pairs; left != 0; left &= left - 1) {
      const auto bit = static_cast<std::uint32_t>(std::countr_zero(left));
      if (are_apart(tiles[row_tiles.begin + bit / kBlockTiles], tiles[column_tiles.begin + bit % kBlockTiles])) {
        pairs &= ~(std::uint64_t{1} << bit);
      }
    }
  }
  return pairs;
}

}  // namespace

TileBounds::TileBounds(PointsView points, std::span<const std::uint32_t> order, const Layers& layers,
                       const CancelToken& cancel)
    : points_(points.size()) {
  const LayersView view = layers.view();
  functions_ = view.count;
  tile_intervals_ = Buffer<LayerInterval>(std::uint64_t{functions_} * tiles());
  block_intervals_ = Buffer<LayerInterval>(std::uint64_t{functions_} * blocks());
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  points.visit([&](auto values) {
    parallel_for(blocks(), [&](std::uint32_t block) {
      if (cancel.cancelled()) return;
      for (std::uint32_t f = 0; f < functions_; ++f) {
        block_intervals_[std::size_t{f} * blocks() + block] = {std::numeric_limits<float>::infinity(),
                                                               -std::numeric_limits<float>::infinity()};
      }
      const TileRange range = tiles_in(block, tiles());
      for (std::uint32_t tile = range.begin; tile < range.end; ++tile) {
        std::array<double, kMostFunctions> lo, hi, scaled;
        lo.fill(kInfinity);
        hi.fill(-kInfinity);
        const std::uint64_t begin = std::uint64_t{tile} * kTilePoints;
        for (std::uint64_t i = begin; i < std::min<std::uint64_t>(begin + kTilePoints, points_); ++i) {
          scaled_values(view, functions_, values.data() + std::size_t{order[i]} * points.dims(), scaled.data());
          for (std::uint32_t f = 0; f < functions_; ++f) {
            lo[f] = std::min(lo[f], scaled[f]);
            hi[f] = std::max(hi[f], scaled[f]);
          }
        }
        for (std::uint32_t f = 0; f < functions_; ++f) {
          const LayerInterval interval = interval_of(view.functions[f], lo[f], hi[f]);
          tile_intervals_[std::size_t{f} * tiles() + tile] = interval;
          LayerInterval& whole = block_intervals_[std::size_t{f} * blocks() + block];
          whole = unite(whole, interval);
        }
      }
    });
  });
  cancel.check();
}

std::vector<TileBlock> list_tile_blocks(const TileBounds& bounds, const CancelToken& cancel) {
  const std::uint32_t blocks = bounds.blocks();
  std::vector<std::vector<TileBlock>> found(blocks);
  parallel_for(blocks, [&](std::uint32_t rows) {
    if (cancel.cancelled()) return;
    for (std::uint32_t columns = rows; columns < blocks; ++columns) {
      if (blocks_apart(bounds, rows, columns)) continue;
      const std::uint64_t pairs = pairs_between(bounds, rows, columns);
      if (pairs != 0) found[rows].push_back({rows, columns, pairs});
    }
  });
  cancel.check();
  std::array<std::uint64_t, kBlockClasses + 1> starts{};
  for (const auto& row : found) {
    for (const TileBlock& block : row) ++starts[block_class(block.pairs) + 1];
  }
  for (std::size_t c = 0; c < kBlockClasses; ++c) starts[c + 1] += starts[c];
  std::vector<TileBlock> list(starts.back());
  for (const auto& row : found) {
    for (const TileBlock& block : row) list[starts[block_class(block.pairs)]++] = block;
  }
  return list;
}

std::vector<TileBlock> list_all_tile_blocks(std::uint64_t points, const CancelToken& cancel) {
  return list_tile_blocks(TileBounds(points), cancel);
}

std::uint64_t count_tile_pairs(std::span<const TileBlock> blocks) noexcept {
  std::uint64_t count = 0;
  for (const TileBlock& block : blocks) count += static_cast<std::uint64_t>(std::popcount(block.pairs));
  return count;
}

void list_tile_ranges(const TileBounds& bounds, std::uint32_t tile, std::vector<Range>& ranges) {
  ranges.clear();
  const auto size = narrow<std::uint32_t>(bounds.points());
  if (bounds.functions() == 0) {
    ranges.push_back({0, size});
    return;
  }
  const auto apart = [&](std::span<const LayerInterval> (TileBounds::*of)(std::uint32_t) const noexcept,
                         std::uint32_t other) {
    for (std::uint32_t f = 0; f < bounds.functions(); ++f) {
      if (are_apart(bounds.of_tiles(f)[tile], (bounds.*of)(f)[other])) return true;
    }
    return false;
  };
  for (std::uint32_t block = 0; block < bounds.blocks(); ++block) {
    if (apart(&TileBounds::of_blocks, block)) continue;
    const TileRange range = tiles_in(block, bounds.tiles());
    for (std::uint32_t other = range.begin; other < range.end; ++other) {
      if (apart(&TileBounds::of_tiles, other)) continue;
      const std::uint32_t begin = other * kTilePoints;
      const std::uint32_t end = begin + std::min(kTilePoints, size - begin);
      if (!ranges.empty() && ranges.back().end == begin) {
        ranges.back().end = end;
      } else {
        ranges.push_back({begin, end});
      }
    }
  }
}

}  // namespace epsflow::index
