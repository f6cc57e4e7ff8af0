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

/// Arrays [ghosts] of the positions of ghosts and of their origins. If the origins are in other parts, `origins` has no
/// elements and need not be null.
struct GhostPositions {
  const std::uint32_t* ghosts = nullptr;
  const std::uint32_t* origins = nullptr;
};
/// Writes ids[g] = the id of ghost g. [ghosts]
void launch_ghost_ids(const Ghosts& ghosts, std::uint32_t* ids, cudaStream_t stream);
/// Replaces each id by the position of its point, which it finds in the cell of the point. points: in input order. ids:
/// [count]
void launch_find_members(const DenseBoxView& view, PointsOnDevice points, std::uint32_t* ids, std::uint32_t count,
                         cudaStream_t stream);
/// Copies the counts of origins to their ghosts.
void launch_copy_counts(std::uint32_t ghosts, const GhostPositions& positions, std::uint32_t* counts,
                        cudaStream_t stream);
/// Unites the cells of core ghosts with the cells of their origins.
void launch_join_ghosts(const DenseBoxView& view, const Nodes& nodes, const GhostPositions& positions,
                        std::uint32_t* parents, cudaStream_t stream);
/// Subtracts core ghosts from the sizes of clusters.
void launch_forget_ghosts(const DenseBoxView& view, const Nodes& nodes, const GhostPositions& positions,
                          const Numbering& numbering, cudaStream_t stream);

// Counts: dense_box_counts.cu.

/// The list of points that have too many candidates for one thread. A later kernel processes each of them with a block
/// of threads. Tally::remaining counts them, even if they did not fit.
struct RemainingPoints {
  std::uint32_t* positions = nullptr;  ///< [capacity]; if it is full, threads test all candidates of a point themselves
  std::uint32_t capacity = 0;
  Tally* tally = nullptr;
};

/// Writes counts[p] = the number of points within eps of position p, itself included, at most minpts.most, for p in
/// `positions`, whose begin is a multiple of 32. The count may be too small if even the number of candidates is below
/// minpts.least. weights: null, or weights with sums of cells; counts[p] is then the largest minpts that the sum of
/// weights reaches, or 0. core_bits: a bit for each position, set if counts[p] >= minpts.most. counts or core_bits may
/// be null. Remaining points are listed, and get the count 0.
void launch_count_dense_boxes(const DenseBoxView& view, Range positions, const MinptsRange& minpts,
                              const WeighingView* weights, const RemainingPoints& remaining, std::uint32_t* counts,
                              std::uint32_t* core_bits, cudaStream_t stream);
/// Writes the counts and bits of the remaining points.
void launch_remaining_counts(const DenseBoxView& view, const MinptsRange& minpts, const WeighingView* weights,
                             const RemainingPoints& remaining, std::uint32_t* counts, std::uint32_t* core_bits,
                             cudaStream_t stream);

// Sets: dense_box_unions.cu, with a thread for each cell, and dense_box_queued_pairs.cu, with blocks for slow pairs.

/// Two cells whose core points a block compares: all points of the smaller with one part of the larger. Part k has up
/// to kPairPart points, from the point k · kPairPart of the cell on. A pair of huge cells has one entry, with part 0,
/// for which only some points of both are compared. If both cells are equal, there is nothing to do.
struct QueuedPair {
  std::uint32_t larger;
  std::uint32_t smaller;
  std::uint32_t part;
};

struct CellPair {
  std::uint32_t a;
  std::uint32_t b;
};

/// Pairs of cells that one thread cannot decide quickly. Tally::queued counts the entries of `pairs` and may exceed
/// `capacity`; Tally::huge_pairs counts `huge`.
struct PairQueue {
  QueuedPair* pairs = nullptr;  ///< [capacity]
  std::uint32_t capacity = 0;
  CellPair* huge = nullptr;  ///< can hold all pairs of huge cells
  Tally* tally = nullptr;
};

/// The core cells, ascending, for kernels in which most threads would have other cells; null if there is no list.
struct CoreCells {
  const std::uint32_t* cells = nullptr;
  const std::uint32_t* count = nullptr;
};

/// The sets of cells, with the arrays that decide which pairs to compare.
struct CellSets {
  std::uint32_t* parents = nullptr;      ///< [cells] kNotCore for cells without core points
  const std::uint8_t* gained = nullptr;  ///< [cells] 1 if the cell has new core points at this level; null if all have
  PairQueue queue;
  CoreCells core;
};

/// Initialises the sets. Two core cells whose keys follow each other are united if they have core points within eps of
/// each other, and if the same block of threads processes both. Pairs that take long go to the queue.
void launch_link_rows(const DenseBoxView& view, const Nodes& nodes, const CellSets& sets, cudaStream_t stream);

/// Extends the sets of a larger minpts: cells that have core points now but had none become sets of their own. before:
/// the core bits at the larger minpts. Writes gained[cell] = 1 if the cell has more core points than in `before`, else
/// 0.
void launch_extend_cells(const Nodes& nodes, const std::uint32_t* before, std::uint32_t* parents, std::uint8_t* gained,
                         cudaStream_t stream);

/// Writes the core cells, ascending, and their number. list: must have capacity for all cells.
void launch_list_core_cells(const std::uint32_t* parents, std::uint32_t cells, std::uint32_t* list,
                            std::uint32_t* count, Scratch scratch);

/// The largest distance of two cells along an axis, in slots: 1 or 2.
enum class CellDistance : std::uint8_t { adjacent, two_apart };

/// Unites every stride-th cell (of the list sets.core, if there is one), if it is core, with the core cells of smaller
/// keys at this distance that have core points within eps of its core points, unless neither has gained any.
/// row_stride: the adjacent cell whose key is smaller by 1 is compared only if the number of the cell is a multiple of
/// row_stride; 0: never. queue: if true, pairs that take long go to the queue, else they are skipped.
void launch_unite_cells(const DenseBoxView& view, const Nodes& nodes, const CellSets& sets, CellDistance distance,
                        std::uint32_t stride, std::uint32_t row_stride, bool queue, cudaStream_t stream);

/// Decides the queued pairs. Of a pair of huge cells it compares only some points. If these do not decide the pair, it
/// goes to PairQueue::huge.
void launch_queued_pairs(const DenseBoxView& view, const Nodes& nodes, const CellSets& sets, cudaStream_t stream);

// Labels: dense_box_labels.cu.

/// Labels the points of cells in which every point is core, except for ghosts. Labels are written in the order of the
/// input, and points are read in this order. Writes 1 for them to `core` unless it is null. points: in input order. The
/// view must have the bitmap of keys (DenseBoxView::words).
void launch_label_ids(const DenseBoxView& view, PointsOnDevice points, const std::uint32_t* numbers,
                      std::int32_t* labels, std::uint8_t* core, cudaStream_t stream);

/// Labels points in the order of positions, except for ghosts: all, or only those that launch_label_ids() does not
/// label. Adds noise and border points to remaining.tally, and border points to `sizes` unless it is null. Leaves the
/// remaining points to launch_remaining_labels(). labels, core: by input id, or null.
void launch_label_positions(const DenseBoxView& view, const Nodes& nodes, const std::uint32_t* numbers, bool all,
                            const RemainingPoints& remaining, std::int32_t* labels, std::uint8_t* core,
                            std::uint32_t* sizes, cudaStream_t stream);
/// Labels the remaining points, none of which is core.
void launch_remaining_labels(const DenseBoxView& view, const Nodes& nodes, const std::uint32_t* numbers,
                             const RemainingPoints& remaining, std::int32_t* labels, std::uint32_t* sizes,
                             cudaStream_t stream);

// Parts: dense_box_border_ties.cu.

struct TieCount {
  std::uint32_t ties = 0;     ///< number of ties, which may exceed the capacity
  std::uint32_t gave_up = 0;  ///< not 0 if a point has too many candidates, or too many clusters near it
};

struct TieList {
  BorderTie* ties = nullptr;  ///< [capacity]
  std::uint32_t capacity = 0;
  TieCount* count = nullptr;
};

/// Lists the ties that UnitedPart::border_ties() returns. The list is incomplete if gave_up is not 0.
void launch_border_ties(const DenseBoxView& view, const Nodes& nodes, const std::uint32_t* numbers,
                        const std::uint8_t* movable, std::uint32_t own, const TieList& list, cudaStream_t stream);

}  // namespace epsflow::gpu
