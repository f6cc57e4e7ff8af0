// The steps of Borůvka's algorithm (trees/boruvka.cpp) on a GPU. No function waits for its stream.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include <epsflow/core/tree_parts.hpp>
#include <epsflow/gpu/grid/index_kernels.hpp>
#include <epsflow/gpu/nearest/nearest_kernels.hpp>
#include <epsflow/gpu/tiles/row_candidates.hpp>
#include <epsflow/gpu/tiles/tile_view.hpp>

namespace epsflow::gpu {

/// A sum (squared distance), which is not negative, as an integer. Both have the same order.
using SumBits = unsigned long long;
inline constexpr SumBits kInfiniteSum = 0x7FF0000000000000;
/// Two positions, the first one in the upper half.
using PositionPair = unsigned long long;

/// The arguments of the kernels. A component has the number of one of its points, its root. All arrays are in
/// device memory. Heights are sums. A pair is offered to a component: the component keeps the lowest height offered.
struct BoruvkaView {
  LeafView leaves;
  const std::uint32_t* lists = nullptr;  ///< [length × size] nearest other points of each, launch_nearest_lists()
  const double* sums = nullptr;          ///< [length × size] the sums of listed pairs; null: computed from the leaves
  std::uint32_t length = 0;              ///< points of a list that are used
  std::uint32_t k = 0;                   ///< the core sum is the sum of the k-th of the list; 0 if k is 0

  double* core = nullptr;            ///< [size] core sums
  double* reach = nullptr;           ///< [size] all pairs of the point below this height are listed or in its component
  std::uint32_t* parents = nullptr;  ///< [size] sets; between the steps, each point's component
  SumBits* heights = nullptr;        ///< [size] the lowest height so far with which a pair leaves a component
  PositionPair* pairs = nullptr;     ///< [size] the ends of such a pair
  SumBits* edge_heights = nullptr;   ///< [size] the edge that united this root with another; infinite if there is none
  PositionPair* edges = nullptr;     ///< [size] the ends of this edge

  std::uint32_t* largest = nullptr;                 ///< [1] a large component, which neither searches nor names a pair
  std::uint32_t* box_components[kMostLevels] = {};  ///< the component of all points of a box, or kMixedBox
  double* box_cores[kMostLevels] = {};              ///< the smallest core sum of its points
};
inline constexpr std::uint32_t kMixedBox = ~0U;

/// Points that search their lowest pairs among candidates (gpu/tiles/row_candidates.hpp). [device]
struct SearchingRows {
  const std::uint32_t* positions = nullptr;
  std::uint32_t count = 0;
  double* limits = nullptr;  ///< [count] only pairs of a lower height matter; negative: no pair does
};

/// Points, and how many there are.
struct PositionList {
  std::uint32_t* positions = nullptr;
  std::uint32_t* count = nullptr;
};

/// Points, and a pair with another component for each of them.
struct OfferedPairs {
  std::uint32_t* points = nullptr;
  SumBits* heights = nullptr;     ///< infinite without a pair
  std::uint32_t* ends = nullptr;  ///< its other point
  std::uint64_t count = 0;
};

/// Sets core, reach and box_cores, makes each point a component, and removes all edges.
void launch_start_trees(const BoruvkaView& view, cudaStream_t stream);
/// Adds the edges of the first round, in which each point is a component. launch_flatten() must follow.
void launch_descend(const BoruvkaView& view, cudaStream_t stream);
/// Moves parents to their roots. Writes *left = 1 if it must be repeated, otherwise 0.
void launch_flatten(const BoruvkaView& view, std::uint32_t* left, cudaStream_t stream);
/// Lists the roots among the `count` given positions; without positions, among all points.
void launch_list_roots(const BoruvkaView& view, const std::uint32_t* positions, std::uint32_t count, PositionList roots,
                       cudaStream_t stream);
/// Sets view.largest by a sample of the points, and makes the heights of all `count` roots infinite.
void launch_start_round(const BoruvkaView& view, const std::uint32_t* roots, std::uint32_t count, cudaStream_t stream);
/// Offers the lowest listed pair of each of `count` points with another component to the components of both ends.
/// points: null for positions 0 … count − 1. open: receives these pairs; *open_count, how many.
void launch_offer_listed(const BoruvkaView& view, const std::uint32_t* points, std::uint32_t count, OfferedPairs open,
                         std::uint32_t* open_count, cudaStream_t stream);
/// Lists the groups (32 positions, from a multiple of 32 on) with points that must search, because a pair that is not
/// listed may be lower than all pairs offered to their component.
void launch_list_searching(const BoruvkaView& view, PositionList groups, cudaStream_t stream);
/// Searches for the lowest pairs of the points of groups with other components, offers and writes them, and raises the
/// reach of the points. A point that cannot have the lowest pair of its component has none. groups: the first position
/// of each. pairs: [32 × groups].
void launch_search_outside(const BoruvkaView& view, const std::uint32_t* groups, const OfferedPairs& pairs,
                           cudaStream_t stream);
/// Lists the points that must search.
void launch_list_searching_points(const BoruvkaView& view, PositionList points, cudaStream_t stream);
/// Makes the heights of all pairs infinite.
void launch_fill_heights(const OfferedPairs& pairs, cudaStream_t stream);
/// For rows of components that have no pair so far: keeps the lowest pair with a few random points, and offers it to
/// the component of the row. pairs.points: the points of the rows.
void launch_search_at_random(const BoruvkaView& view, const OrderedPoints& points, const OfferedPairs& pairs,
                             cudaStream_t stream);
/// Sets the limit of each row to the height that was offered to its component, or to −1 if no lower pair is possible.
void launch_limit_rows(const BoruvkaView& view, const SearchingRows& rows, cudaStream_t stream);
/// Keeps the lowest pair of each row so far, and offers it to the component of the row. *lost = rows that have lost
/// candidates. Empties the slots.
void launch_offer_candidates(const BoruvkaView& view, const OrderedPoints& points, const CandidateColumns& slots,
                             const OfferedPairs& pairs, std::uint32_t* lost, cudaStream_t stream);
/// Offers the lowest pair of each row to the component of its other point. Call it when no row finds lower ones any
/// more.
void launch_offer_to_ends(const BoruvkaView& view, const OfferedPairs& pairs, cudaStream_t stream);
/// Notes that the rows have searched all pairs below the heights of their components.
void launch_reach_rows(const BoruvkaView& view, const SearchingRows& rows, cudaStream_t stream);

/// Writes to view.pairs each pair whose height is the lowest offered to the component of one of its ends.
void launch_name_pairs(const BoruvkaView& view, const OfferedPairs& pairs, cudaStream_t stream);
/// Unites components along the pairs of all roots but the largest. Adds the edges.
void launch_unite(const BoruvkaView& view, const std::uint32_t* roots, std::uint32_t count, cudaStream_t stream);

/// Writes the edges in ascending order of height. Their ends are positions. sorted: [size − 1]. Overwrites edge_heights
/// and edges.
void launch_sort_edges(const BoruvkaView& view, Edge* sorted, Scratch scratch);
/// Writes core[id] = the core sum of the point.
void launch_core_by_id(const BoruvkaView& view, double* core, cudaStream_t stream);

}  // namespace epsflow::gpu
