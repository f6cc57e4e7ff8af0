// The loops of DBSCAN over clique cells, on vectors: counts of neighbours, unions of cells, clusters of border points.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <epsflow/clustering/bounds_order.hpp>
#include <epsflow/clustering/cluster_source.hpp>
#include <epsflow/clustering/kept_windows.hpp>
#include <epsflow/clustering/weighing.hpp>
#include <epsflow/index/grid.hpp>
#include <epsflow/index/row_search.hpp>

namespace epsflow::clustering {

/// Levels whose borders find_cell_clusters() finds at once. The search around points that are not core, the look at the cells
/// around and the way back to input order cost hardly more for four than for one; more would take more memory than they save.
inline constexpr std::size_t kLevelsAtOnce = 4;

struct CellInput {
  const index::Grid& grid;  ///< of clique cells
  const index::SearchInput& search;
  const BoundsOrder* bounds = nullptr;  ///< whose points `search` has; null where these are in the order of the grid
  /// Points from this id on are ghosts of a part. Cells that hold only ghosts, and fewer of them than the smallest minpts, are not counted:
  /// their points get the count 1.
  std::uint32_t counted = kAll;
  static constexpr std::uint32_t kAll = 0xFFFFFFFF;
};

/// counts[p]: at least as many as the neighbours of each point of the cells or the largest minpts, and on the same side of
/// each minpts as the number of neighbours; so 1 only where a point has no neighbour but itself, or the largest minpts is
/// 1. minpts: ascending, and behind them the largest number there is. counts: [n] by position.
void count_cells(const CellInput& in, Range cells, std::span<const std::uint32_t> minpts, std::uint32_t* counts);

/// The same of the weights of neighbours, which may be 1 where a point has neighbours.
void weigh_cells(const CellInput& in, Range cells, const Weighing& weighing, std::uint32_t* counts);

/// What the unions of a level read and write.
struct CellUnions {
  CoreLevel level;
  const std::uint32_t* counts;  ///< [n] by position
  /// [grid.cells()] 1 for cells in which the level has made points core; at the first level for all core cells.
  const std::uint8_t* gained;
  /// [grid.cells()] Set to 1 for cells in whose set all core cells at most `reach` slots away are, and to 0 for others. Cells that are settled
  /// are not among `cells`, even if the level makes more of their points core: a cell that becomes core later looks at them.
  std::uint8_t* settled;
  std::uint32_t* parent;  ///< [grid.cells()]
};

/// Unites `cells`, which ascend and in which the level has made points core, with the core cells that are at most `reach` slots away and have a
/// core point within eps of one of theirs. windows: the cells around each cell, within this reach; keeps those that are found, or keeps none.
void unite_cells(const CellInput& in, std::span<const std::uint32_t> cells, std::uint32_t reach, KeptWindows& windows,
                 const CellUnions& unions);

/// Counts of all points, and where there are bounds the largest of each 16 that share the narrowest. By position.
struct CellCounts {
  const std::uint32_t* of_points;
  const std::uint32_t* of_bounds;
  /// The count of points that have no neighbour but themselves; kUntold where counts do not say.
  std::uint32_t alone = 1;
  static constexpr std::uint32_t kUntold = 0xFFFFFFFF;
};

/// clusters: of the points of the cells, as ClusterSource::find_clusters() says. levels: at most kLevelsAtOnce; their
/// clusters have Buffer::kPadding bytes readable behind.
void find_cell_clusters(const CellInput& in, Range cells, const NumberedLevels& levels, const CellCounts& counts,
                        std::uint32_t* clusters);

/// A point that is border at some level: core at none of the minpts above `count`, with a neighbour that is core at all up to `reach`.
struct BorderPoint {
  std::uint32_t position;
  std::uint32_t cell;
  std::uint32_t count;  ///< as count_cells() has it
  std::uint32_t reach;  ///< the largest count of a neighbour

  [[nodiscard]] bool border(std::uint32_t minpts) const noexcept { return count < minpts && minpts <= reach; }
};

/// A cell with such points.
struct BorderCell {
  std::uint32_t cell;
  Range points;         ///< places among those of the block
  std::uint32_t least;  ///< the least count of them
  std::uint32_t most;   ///< the largest reach of them
  /// The core cells around are all in the set of this one, but for those that may have become core since; kNoHome where they are in
  /// several.
  std::uint32_t home = kNoHome;
  /// Cells around that were not core, and may be while one of the points is border.
  std::array<std::uint32_t, 8> pending = {};
  std::uint32_t pending_count = 0;
  static constexpr std::uint32_t kNoHome = 0xFFFFFFFF;
};

/// Those of a block.
struct BlockBorders {
  std::vector<BorderPoint> points;
  std::vector<BorderCell> cells;
};

/// The points of the cells that are not core at the largest minpts, and have a neighbour whose count is larger than their own, by
/// position. largest: [grid.cells()] the largest count in each cell. minpts: the largest.
void find_border_points(const CellInput& in, Range cells, std::uint32_t minpts, const CellCounts& counts,
                        const std::uint32_t* largest, std::vector<BorderPoint>& found);

/// The inputs and the output of count_border_points() at one level.
struct BorderCount {
  std::uint32_t minpts;          ///< less than at the last call
  const std::uint32_t* counts;   ///< [n] by position
  const std::uint32_t* largest;  ///< [grid.cells()] the largest count in each cell
  std::uint32_t* parent;         ///< [grid.cells()] as ClusterSource::count_borders()
  const std::uint32_t* numbers;  ///< [grid.cells()] likewise
  std::uint32_t* sizes;          ///< [clusters] points are added to
};

/// Adds the points that are border at this minpts to the sizes of their clusters. Returns how many they are.
[[nodiscard]] std::uint32_t count_border_points(const CellInput& in, BlockBorders& borders, const BorderCount& count);

}  // namespace epsflow::clustering
