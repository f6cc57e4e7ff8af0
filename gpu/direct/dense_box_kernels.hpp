// The kernels that cluster by dense-box cells. All compare in float64 as in index/distance.hpp. None waits.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include <epsflow/core/neighbor_table.hpp>
#include <epsflow/core/phases.hpp>
#include <epsflow/gpu/direct/dense_box_grid.hpp>
#include <epsflow/gpu/direct/device_weighing.hpp>
#include <epsflow/gpu/direct/tally.hpp>

namespace epsflow::gpu {

// Ghosts: dense_box_ghosts.cu.

/// Positions of ghosts, and of their origins if these are here. [ghosts] each
struct GhostPositions {
  const std::uint32_t* ghosts = nullptr;
  const std::uint32_t* origins = nullptr;
};
/// Writes the ids of ghosts. [ghosts]
void launch_ghost_ids(const Ghosts& ghosts, std::uint32_t* ids, cudaStream_t stream);
/// Replaces ids by positions, by a search in the cell of each point. ids: [count]
void launch_find_members(const DenseBoxView& view, PointsOnDevice points, std::uint32_t* ids, std::uint32_t count,
                         cudaStream_t stream);
/// Copies the counts of origins to their ghosts.
void launch_copy_counts(std::uint32_t ghosts, const GhostPositions& positions, std::uint32_t* counts,
                        cudaStream_t stream);
/// Unites the cells of core ghosts with those of their origins.
void launch_join_ghosts(const DenseBoxView& view, const Nodes& nodes, const GhostPositions& positions,
                        std::uint32_t* parents, cudaStream_t stream);
/// Subtracts core ghosts from the sizes of clusters.
void launch_forget_ghosts(const DenseBoxView& view, const Nodes& nodes, const GhostPositions& positions,
                          const Numbering& numbering, cudaStream_t stream);

// Counts: dense_box_counts.cu.

/// Points left to blocks, because a thread may not test all their candidates. Their number is in the tally.
struct RemainingPoints {
  std::uint32_t* positions = nullptr;  ///< [capacity]; if it is full, threads continue by themselves
  std::uint32_t capacity = 0;
  Tally* tally = nullptr;
};

/// Writes counts[p] = the points within eps of position p, at most minpts.most, for p in `positions`, whose begin is a
/// multiple of 32. Points that cannot reach minpts.least may get less. weights: null, or the weights to sum instead,
/// with sums of cells. core_bits: a bit for each position, counts >= minpts.most. counts or core_bits may be null.
void launch_count_dense_boxes(const DenseBoxView& view, Range positions, const MinptsRange& minpts,
                              const WeighingView* weights, const RemainingPoints& remaining, std::uint32_t* counts,
                              std::uint32_t* core_bits, cudaStream_t stream);
/// Counts for the remaining points.
void launch_remaining_counts(const DenseBoxView& view, const MinptsRange& minpts, const WeighingView* weights,
                             const RemainingPoints& remaining, std::uint32_t* counts, std::uint32_t* core_bits,
                             cudaStream_t stream);

// Sets: dense_box_unions.cu, with a thread for each cell, and dense_box_queued_pairs.cu, with blocks for slow pairs.

/// Two cells whose core points a block compares: all points of the smaller with one part of the larger.
struct QueuedPair {
  std::uint32_t larger;
  std::uint32_t smaller;
  std::uint32_t part;
};

struct CellPair {
  std::uint32_t a;
  std::uint32_t b;
};

/// Pairs of cells that one thread cannot decide quickly. Their numbers are in the tally.
struct PairQueue {
  QueuedPair* pairs = nullptr;  ///< [capacity]
  std::uint32_t capacity = 0;
  CellPair* huge = nullptr;  ///< room for all pairs of huge cells
  Tally* tally = nullptr;
};

/// The core cells, ascending, for kernels in which most threads would have other cells; null if there is no list.
struct CoreCells {
  const std::uint32_t* cells = nullptr;
  const std::uint32_t* count = nullptr;
};

/// The sets of cells, with the arrays that decide which pairs to compare.
struct CellSets {
  std::uint32_t* parents = nullptr;      ///< [cells]
  const std::uint8_t* gained = nullptr;  ///< [cells] 1 if the cell has new core points at this level; null if all have
  PairQueue queue;
  CoreCells core;
};

/// Initialises the sets: consecutive core cells of a row that have core points within eps are linked within each block.
void launch_link_rows(const DenseBoxView& view, const Nodes& nodes, const CellSets& sets, cudaStream_t stream);

/// Extends the sets of a larger minpts: cells with a first core point become sets of their own. gained[cell]: 1 if the
/// cell has more core points than in `before`.
void launch_extend_cells(const Nodes& nodes, const std::uint32_t* before, std::uint32_t* parents, std::uint8_t* gained,
                         cudaStream_t stream);

/// Lists the cells that have a parent, ascending. list: must have room for all cells.
void launch_list_core_cells(const std::uint32_t* parents, std::uint32_t cells, std::uint32_t* list,
                            std::uint32_t* count, Scratch scratch);

enum class CellDistance : std::uint8_t { adjacent, two_apart };

/// Unites each stride-th core cell with earlier cells at that distance that have a core point within eps. row_stride:
/// every row_stride-th cell is also compared with the adjacent one of its own row; 0 for none. queue: pairs that take
/// long go to the queue; if false, they are skipped.
void launch_unite_cells(const DenseBoxView& view, const Nodes& nodes, const CellSets& sets, CellDistance distance,
                        std::uint32_t stride, std::uint32_t row_stride, bool queue, cudaStream_t stream);

/// Decides the queued pairs. Of huge cells it decides only those that a few tries decide, and lists the others.
void launch_queued_pairs(const DenseBoxView& view, const Nodes& nodes, const CellSets& sets, cudaStream_t stream);

// Labels: dense_box_labels.cu.

/// Labels by id all points of cells whose points are all core. points: as the caller gave them.
void launch_label_ids(const DenseBoxView& view, PointsOnDevice points, const std::uint32_t* numbers,
                      std::int32_t* labels, std::uint8_t* core, cudaStream_t stream);

/// Labels by position: all points, or those left by launch_label_ids(). Adds to remaining.tally, and sizes if given.
void launch_label_positions(const DenseBoxView& view, const Nodes& nodes, const std::uint32_t* numbers, bool all,
                            const RemainingPoints& remaining, std::int32_t* labels, std::uint8_t* core,
                            std::uint32_t* sizes, cudaStream_t stream);
/// Labels the remaining points, none of which is core.
void launch_remaining_labels(const DenseBoxView& view, const Nodes& nodes, const std::uint32_t* numbers,
                             const RemainingPoints& remaining, std::int32_t* labels, std::uint32_t* sizes,
                             cudaStream_t stream);

// Parts: dense_box_border_ties.cu.

struct TieCount {
  std::uint32_t ties = 0;
  std::uint32_t gave_up = 0;  ///< not 0 if a point had too many candidates, or too many clusters near it
};

struct TieList {
  BorderTie* ties = nullptr;  ///< [capacity]
  std::uint32_t capacity = 0;
  TieCount* count = nullptr;  ///< may exceed the capacity
};

/// Implements UnitedPart::border_ties().
void launch_border_ties(const DenseBoxView& view, const Nodes& nodes, const std::uint32_t* numbers,
                        const std::uint8_t* movable, std::uint32_t own, const TieList& list, cudaStream_t stream);

}  // namespace epsflow::gpu
