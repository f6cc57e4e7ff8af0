// Neighbours from the dense-box cells of a grid: each node of the union-find is a cell.
//
// Any two points of a dense-box cell are neighbours. So a cell of at least minpts points (or of that weight, if no
// weight is negative) has only core points, without a distance test. All core points of a cell are in one cluster, and
// union-find runs over cells. Two cells are in one cluster as soon as a core point of one is a neighbour of a core
// point of the other. Unions take two passes: adjacent cells first, after which most cells two apart are already in one
// set and need no test.
//
// Source: cells of side eps/√d are Gan & Tao's idea (SIGMOD 2015); Wang, Gu & Shun (SIGMOD 2020) use it on many cores.
// Differences: membership of a cell implies the rounded test (index/cell_axes.hpp), counts serve all minpts of an eps,
// and a smaller minpts starts from the sets of the larger one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <epsflow/clustering/bounds_order.hpp>
#include <epsflow/clustering/cached_windows.hpp>
#include <epsflow/clustering/cell_loops.hpp>
#include <epsflow/clustering/cluster_source.hpp>
#include <epsflow/core/buffer.hpp>
#include <epsflow/core/cancel.hpp>
#include <epsflow/core/weights.hpp>
#include <epsflow/index/grid.hpp>
#include <epsflow/index/row_search.hpp>

namespace epsflow::clustering {

/// Serves one nested clustering at a time.
class CellSource final : public ClusterSource {
 public:
  /// Counts neighbours, in parallel, as far as is needed to determine for each minpts which points are core. grid: has
  /// dense-box cells. minpts: descending, at least one. ghosts: ghosts among the points of the grid. weights: null, or
  /// the weights that are summed in place of counting neighbours, by id; not read after the constructor. A ghost whose
  /// origin is in the grid has the weight of its origin. The grid and the token must outlive the object. Throws
  /// Cancelled, ResourceError.
  CellSource(const index::Grid& grid, std::span<const std::uint32_t> minpts, const CancelToken& cancel,
             const Ghosts& ghosts, const WholeWeights* weights = nullptr);

  [[nodiscard]] std::size_t nodes() const override { return grid_.cells(); }
  [[nodiscard]] std::span<const std::uint32_t> order() const override {
    return bounds_ ? bounds_->order() : grid_.order();
  }
  [[nodiscard]] std::span<const std::uint32_t> node_starts() const override { return grid_.cell_starts(); }
  [[nodiscard]] Ghosts ghosts() const override { return ghosts_; }
  [[nodiscard]] std::span<const std::uint32_t> counts() const override { return counts_.span(); }
  void set_counts(std::span<const PointCount> counts) override;
  [[nodiscard]] std::span<const ClusterBlock> blocks() const override { return blocks_; }
  [[nodiscard]] unsigned passes() const override { return 2; }
  [[nodiscard]] std::size_t levels_at_once() const override { return kLevelsAtOnce; }
  void mark_core(const ClusterBlock& block, const CoreLevel& level, std::uint32_t* parent) override;
  void mark_core(const ClusterBlock& block, std::span<const NodePoint> gained, std::uint32_t* parent) override;
  void unite(const ClusterBlock& block, const CoreLevel& level, unsigned pass, std::uint32_t* parent) override;
  void join_ghosts(const CoreLevel& level, std::uint32_t* parent) override;
  [[nodiscard]] std::uint32_t smallest_id(std::uint32_t node) const override { return smallest_[node]; }
  void find_clusters(const ClusterBlock& block, const NumberedLevels& levels, std::uint32_t* clusters,
                     std::uint32_t* core) const override;

  [[nodiscard]] bool counts_borders() const override { return true; }
  void find_borders() override;
  [[nodiscard]] std::uint32_t count_borders(std::size_t block, std::uint32_t minpts, std::uint32_t* parent,
                                            const std::uint32_t* numbers, std::uint32_t* sizes) override;

  /// Returns an upper bound on the memory in bytes, without the grid and the results of find_borders(). minpts:
  /// descending, at least one. ghosts: their number.
  [[nodiscard]] static std::uint64_t bytes(const index::Grid& grid, std::span<const std::uint32_t> minpts,
                                           std::uint64_t ghosts = 0, bool weighted = false) noexcept;
  /// Returns an upper bound on the points of the blocks that the threads of the arena process at the same time.
  /// O(cells).
  [[nodiscard]] static std::uint64_t block_rows(const index::Grid& grid) noexcept;

 private:
  /// The position of a ghost, its cell, and the cell of its origin, which join_ghosts() unites with it.
  struct GhostLink {
    std::uint32_t position;
    std::uint32_t cell;
    std::uint32_t cell_of_origin;
  };

  [[nodiscard]] CellInput input() const;
  void find_ghosts();
  void gain(std::uint32_t cell, std::uint32_t id, std::uint32_t* parent, std::vector<std::uint32_t>& gained);
  [[nodiscard]] std::vector<std::uint32_t>& forget_gained(const ClusterBlock& block);
  void find_largest_counts();

  const index::Grid& grid_;
  index::RowSearch search_;
  bool weighted_;
  std::optional<BoundsOrder> bounds_;  ///< set if bounds save more tests than they cost
  std::vector<ClusterBlock> blocks_;
  Ghosts ghosts_;
  std::vector<GhostLink> ghost_links_;  ///< [ghosts]
  const CancelToken& cancel_;
  std::uint32_t most_;                    ///< the largest minpts
  std::vector<BlockBorders> borders_;     ///< [blocks] filled if borders are counted
  Buffer<std::uint32_t> largest_;         ///< [cells] largest count, if border points are counted
  Buffer<std::uint32_t> counts_;          ///< [n]
  Buffer<std::uint32_t> largest_counts_;  ///< [n / 16] largest count of the points that share the narrowest bounds
  std::vector<std::vector<std::uint32_t>> gained_cells_;  ///< [blocks] the cells with gained_ == 1, ascending
  CachedWindows windows_[2];                              ///< one per pass, if there are several levels
  Buffer<std::uint8_t> gained_;     ///< [cells] 1 if points became core at this level and the cell is not resolved
  Buffer<std::uint8_t> resolved_;   ///< [cells] 1 if the cell is in one set with all core cells around
  Buffer<std::uint32_t> smallest_;  ///< [cells] smallest id of a core point
};

}  // namespace epsflow::clustering
