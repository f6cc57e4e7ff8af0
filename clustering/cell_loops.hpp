// The vector loops of DBSCAN over dense-box cells: counts of neighbours, unions of cells, clusters of border points.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <epsflow/clustering/bounds_order.hpp>
#include <epsflow/clustering/cached_windows.hpp>
#include <epsflow/clustering/cluster_source.hpp>
#include <epsflow/clustering/weighing.hpp>
#include <epsflow/index/grid.hpp>
#include <epsflow/index/row_search.hpp>

namespace epsflow::clustering {

/// The largest number of levels for which find_cell_clusters() finds clusters at once. The search around points that
/// are not core, the scan of the cells around them and the return to input order take little more time for four levels
/// than for one. More levels would take too much memory for the time that they save.
inline constexpr std::size_t kLevelsAtOnce = 4;

/// The cells and their points, as all loops read them.
struct CellInput {
  const index::Grid& grid;  ///< has dense-box cells
  const index::SearchInput& search;
  /// Set if `search` has the points in the order of bounds. Null if it has them in the order of the grid.
  const BoundsOrder* bounds = nullptr;
  /// Points from this id on are ghosts of a part. count_cells() does not search a cell that holds only ghosts, and
  /// fewer of them than the smallest minpts; the points of such a cell get the count 1. kAll: all cells are searched.
  /// The other functions ignore this number.
  std::uint32_t counted = kAll;
  static constexpr std::uint32_t kAll = 0xFFFFFFFF;
};

/// Sets counts[p] of each point of the cells to a number that is at least min(neighbours, largest minpts) and reaches
/// the same minpts as the number of neighbours. Points of cells that CellInput::counted leaves out get 1. Any other
/// point gets 1 only if it has no neighbour except itself, or if the largest minpts is 1. minpts: ascending, followed
/// by the largest std::uint32_t. counts: [n] by position.
void count_cells(const CellInput& in, Range cells, std::span<const std::uint32_t> minpts, std::uint32_t* counts);

/// Sets counts[p] of each point of the cells to a number that reaches the same minpts as the sum of the weights of its
/// neighbours. It may be 1 for points with other neighbours, too.
void weigh_cells(const CellInput& in, Range cells, const Weighing& weighing, std::uint32_t* counts);

/// The level at which unite_cells() unites cells, and the state of all cells.
struct CellUnions {
  CoreLevel level;
  const std::uint32_t* counts;  ///< [n] by position
  /// [grid.cells()] 1 for the cells that all calls at this level together unite: cells that are not resolved and have
  /// points that became core at this level; at the first level all core cells.
  const std::uint8_t* gained;
  /// [grid.cells()] Set for each of `cells`: to 1 if the cell is found in one set with all core cells at most `reach`
  /// slots away, else to 0. At the first level it is always 0. Also set to 0 for a cell whose test with one of `cells`
  /// finds no neighbours. A resolved cell needs no test if more of its points become core, so it is not in `cells` at
  /// later levels. Cells that become core later test their pairs with it.
  std::uint8_t* resolved;
  std::uint32_t* parent;  ///< [grid.cells()]
};

/// Unites `cells` with the core cells at most `reach` slots (cell widths) away on every axis that have a core point
/// within eps of one of theirs. Of two cells with a mark in CellUnions::gained, only the call for the later one tests
/// the pair. cells: ascending, all with that mark. windows: the cache for this reach. New windows are stored in it,
/// unless CachedWindows::keeps() is false.
void unite_cells(const CellInput& in, std::span<const std::uint32_t> cells, std::uint32_t reach, CachedWindows& windows,
                 const CellUnions& unions);

/// Counts of neighbours, as set by count_cells() or weigh_cells().
struct CellCounts {
  const std::uint32_t* of_points;  ///< [n] by position
  /// [n / 16, rounded up] the largest count of each 16 consecutive positions; used if CellInput::bounds is set.
  const std::uint32_t* of_bounds;
  /// The count of points that have no neighbour except themselves; kUntold if other points may have this count too.
  std::uint32_t alone = 1;
  static constexpr std::uint32_t kUntold = 0xFFFFFFFF;
};

/// Sets clusters for the points of the cells, as ClusterSource::find_clusters(). levels: at most kLevelsAtOnce; their
/// clusters are followed by Buffer::kPadding readable bytes. clusters: [points of the cells × levels].
void find_cell_clusters(const CellInput& in, Range cells, const NumberedLevels& levels, const CellCounts& counts,
                        std::uint32_t* clusters);

/// A point that is a border point at some level. It is core at each minpts up to `count`, and has a neighbour that is
/// core at each minpts up to `reach`.
struct BorderPoint {
  std::uint32_t position;
  std::uint32_t cell;
  std::uint32_t count;  ///< as set by count_cells()
  std::uint32_t reach;  ///< the largest count of a neighbour, or any count that is at least the largest minpts

  [[nodiscard]] bool border(std::uint32_t minpts) const noexcept { return count < minpts && minpts <= reach; }
};

/// A cell with points that are border points at some level.
struct BorderCell {
  std::uint32_t cell;
  Range points;         ///< range in BlockBorders::points
  std::uint32_t least;  ///< the smallest BorderPoint::count of these points
  std::uint32_t most;   ///< the largest BorderPoint::reach of these points
  /// A core cell near this cell, or this cell itself, if all core cells that can hold neighbours are in its set.
  /// kNoHome if this is not known: no level was counted yet, the core cells are in several sets, or more cells are
  /// pending than the array below can hold.
  std::uint32_t home = kNoHome;
  /// Cells that can hold neighbours, were not core when `home` was found, and may become core while a point of this
  /// cell is a border point. `home` is valid only if those that are core by now are in its set.
  std::array<std::uint32_t, 8> pending = {};
  std::uint32_t pending_count = 0;
  static constexpr std::uint32_t kNoHome = 0xFFFFFFFF;
};

/// The points of a block that are border points at some level, and their cells.
struct BlockBorders {
  std::vector<BorderPoint> points;
  std::vector<BorderCell> cells;
};

/// Appends to `found`, in the order of positions, the points of the cells that are not core at the largest minpts and
/// have a neighbour with a larger count. largest: [grid.cells()] the largest count in each cell. minpts: the largest.
void find_border_points(const CellInput& in, Range cells, std::uint32_t minpts, const CellCounts& counts,
                        const std::uint32_t* largest, std::vector<BorderPoint>& found);

/// The inputs and the output of count_border_points() at one level.
struct BorderCount {
  std::uint32_t minpts;          ///< less than at the last call
  const std::uint32_t* counts;   ///< [n] by position
  const std::uint32_t* largest;  ///< [grid.cells()] the largest count in each cell
  std::uint32_t* parent;         ///< [grid.cells()] as in ClusterSource::count_borders()
  const std::uint32_t* numbers;  ///< [grid.cells()] as in ClusterSource::count_borders()
  std::uint32_t* sizes;          ///< [clusters] increased by the border points
};

/// Adds the points that are border at this minpts to the sizes of their clusters. Returns their number.
[[nodiscard]] std::uint32_t count_border_points(const CellInput& in, BlockBorders& borders, const BorderCount& count);

}  // namespace epsflow::clustering
