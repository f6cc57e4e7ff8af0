// The kernels that cluster by cells that are cliques. All compare in float64 as index/distance.hpp says. None waits.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include <epsflow/core/neighbor_table.hpp>
#include <epsflow/core/phases.hpp>
#include <epsflow/gpu/direct/clique_grid.hpp>
#include <epsflow/gpu/direct/device_weighing.hpp>
#include <epsflow/gpu/direct/tally.hpp>

namespace epsflow::gpu {

// Ghosts: clique_ghosts.cu.

/// Where ghosts are in the order of cells, and their origins, if these are here. [ghosts] each
struct GhostPositions {
  const std::uint32_t* ghosts = nullptr;
  const std::uint32_t* origins = nullptr;
};
/// Ids of ghosts. [ghosts]
void launch_ghost_ids(const Ghosts& ghosts, std::uint32_t* ids, cudaStream_t stream);
/// From ids to positions, in place: a look into the cell of each point. ids: [count]
void launch_find_members(const CliqueView& view, PointsOnDevice points, std::uint32_t* ids, std::uint32_t count,
                         cudaStream_t stream);
/// counts of ghosts = those of their origins.
void launch_copy_counts(std::uint32_t ghosts, const GhostPositions& positions, std::uint32_t* counts,
                        cudaStream_t stream);
/// Unites the cells of ghosts that are core with those of their origins.
void launch_join_ghosts(const CliqueView& view, const Nodes& nodes, const GhostPositions& positions,
                        std::uint32_t* parents, cudaStream_t stream);
/// Takes ghosts that are core out of the sizes of clusters.
void launch_forget_ghosts(const CliqueView& view, const Nodes& nodes, const GhostPositions& positions,
                          const Numbering& numbering, cudaStream_t stream);

// Counts: clique_counts.cu.

/// Points that remain for blocks, as they have more candidates than a thread is to test. Their number is in the tally.
struct RemainingPoints {
  std::uint32_t* positions = nullptr;  ///< [capacity]; where it is full, threads go on by themselves
  std::uint32_t capacity = 0;
  Tally* tally = nullptr;
};

/// counts[p]: points within eps of position p, at most minpts.most, for p in `positions`, which begin with a multiple of 32.
/// Points that cannot have minpts.least may be counted as fewer than they have. weights: null, or what to sum in place of
/// counting points, with sums of cells. counts or core_bits may be null; core_bits: a bit per position, counts >= minpts.most.
void launch_count_cliques(const CliqueView& view, Range positions, const MinptsRange& minpts,
                          const WeighingView* weights, const RemainingPoints& remaining, std::uint32_t* counts,
                          std::uint32_t* core_bits, cudaStream_t stream);
/// Counts the remaining points.
void launch_remaining_counts(const CliqueView& view, const MinptsRange& minpts, const WeighingView* weights,
                             const RemainingPoints& remaining, std::uint32_t* counts, std::uint32_t* core_bits,
                             cudaStream_t stream);

// Sets: clique_unions.cu, with a thread per cell, and clique_queued_pairs.cu, with blocks for pairs that take long.

/// Two cells whose core points blocks compare: all points of the smaller with one part of the larger.
struct QueuedPair {
  std::uint32_t larger;
  std::uint32_t smaller;
  std::uint32_t part;
};

struct CellPair {
  std::uint32_t a;
  std::uint32_t b;
};

/// Pairs of cells that one thread cannot decide soon. Their numbers are in the tally.
struct PairQueue {
  QueuedPair* pairs = nullptr;  ///< [capacity]
  std::uint32_t capacity = 0;
  CellPair* huge = nullptr;  ///< room for every pair of huge cells
  Tally* tally = nullptr;
};

/// A list of the core cells, ascending, for kernels whose threads would mostly meet others; null where there is none.
struct CoreCells {
  const std::uint32_t* cells = nullptr;
  const std::uint32_t* count = nullptr;
};

/// Sets of cells, and what their pairs are judged by.
struct CellSets {
  std::uint32_t* parents = nullptr;      ///< [cells]
  const std::uint8_t* gained = nullptr;  ///< [cells] whether it has core points that it had not before; null: all have
  PairQueue queue;
  CoreCells core;
};

/// Begins the sets: core cells that follow each other in a row, and are near, are linked within each block.
void launch_link_rows(const CliqueView& view, const Nodes& nodes, const CellSets& sets, cudaStream_t stream);

/// Goes on with sets of a larger minpts: cells with a first core point become sets of their own; gained[cell]: whether
/// the cell has more core points than `before` says.
void launch_extend_cells(const Nodes& nodes, const std::uint32_t* before, std::uint32_t* parents, std::uint8_t* gained,
                         cudaStream_t stream);

/// Lists the cells that have a parent, ascending. list: room for all cells.
void launch_list_core_cells(const std::uint32_t* parents, std::uint32_t cells, std::uint32_t* list,
                            std::uint32_t* count, Scratch scratch);

enum class CellDistance : std::uint8_t { adjacent, two_apart };

/// Unites each stride-th core cell with those before it at that distance that have a core point within eps.
/// row_stride: every so many cells look at the adjacent one of their own row too; 0 for none. `queue`: whether pairs
/// that take long go to the queue; otherwise they are left alone.
void launch_unite_cells(const CliqueView& view, const Nodes& nodes, const CellSets& sets, CellDistance distance,
                        std::uint32_t stride, std::uint32_t row_stride, bool queue, cudaStream_t stream);

/// Decides the queued pairs; of huge cells only those that a few tries decide, the others are listed.
void launch_queued_pairs(const CliqueView& view, const Nodes& nodes, const CellSets& sets, cudaStream_t stream);

// Labels: clique_labels.cu.

/// Labels of all points of cells whose points are all core, by id: points as the caller gave them.
void launch_label_ids(const CliqueView& view, PointsOnDevice points, const std::uint32_t* numbers, std::int32_t* labels,
                      std::uint8_t* core, cudaStream_t stream);

/// Labels by position: of all points, or of those that launch_label_ids() leaves. Adds to remaining.tally, and to sizes, which may be
/// null.
void launch_label_positions(const CliqueView& view, const Nodes& nodes, const std::uint32_t* numbers, bool all,
                            const RemainingPoints& remaining, std::int32_t* labels, std::uint8_t* core,
                            std::uint32_t* sizes, cudaStream_t stream);
/// Labels the remaining points: none is core.
void launch_remaining_labels(const CliqueView& view, const Nodes& nodes, const std::uint32_t* numbers,
                             const RemainingPoints& remaining, std::int32_t* labels, std::uint32_t* sizes,
                             cudaStream_t stream);

// Of a part: clique_border_ties.cu.

struct TieCount {
  std::uint32_t ties = 0;
  std::uint32_t gave_up = 0;  ///< not 0 where a point had too many candidates, or clusters near it
};

struct TieList {
  BorderTie* ties = nullptr;  ///< [capacity]
  std::uint32_t capacity = 0;
  TieCount* count = nullptr;  ///< may become more than there is room for
};

/// As UnitedPart::border_ties() says.
void launch_border_ties(const CliqueView& view, const Nodes& nodes, const std::uint32_t* numbers,
                        const std::uint8_t* movable, std::uint32_t own, const TieList& list, cudaStream_t stream);

}  // namespace epsflow::gpu
