// The loops of DBSCAN that search the neighbours of each row, with vector instructions, instead of reading a table:
// counts of neighbours, unions of points, clusters of border points.
#pragma once

#include <cstdint>
#include <span>

#include <epsflow/clustering/cluster_source.hpp>
#include <epsflow/clustering/weighing.hpp>
#include <epsflow/index/grid.hpp>
#include <epsflow/index/row_search.hpp>
#include <epsflow/index/search_index.hpp>

namespace epsflow::clustering {

/// Sets counts[p] to the number of neighbours of each position p of `rows`, or `most` if there are more. counts: [n].
void count_rows(const index::SearchIndex& index, const index::SearchInput& in, Range rows, std::uint32_t most,
                std::uint32_t* counts);

/// Sets counts[p] of each position p of `rows` to the largest minpts that the sum of the weights of its neighbours
/// reaches; 0 if it reaches none. counts: [n].
void weigh_rows(const index::SearchIndex& index, const index::SearchInput& in, Range rows, const Weighing& weighing,
                std::uint32_t* counts);

/// Unites each point of `rows` that becomes core at this level with its core neighbours. At the first level neighbours
/// at larger positions may be left out, because their own rows contain the pair too. counts, parent: [n] as for the
/// unite_rows() that reads a table (row_loops.hpp).
void unite_rows(const index::SearchIndex& index, const index::SearchInput& in, Range rows, const CoreLevel& level,
                const std::uint32_t* counts, std::uint32_t* parent);

/// Sets clusters[i] to the cluster of row rows.begin + i: its own if it is core, else the lowest among its core
/// neighbours, kNoCluster for noise. cluster_of: [n] as for the find_clusters() that reads a table (row_loops.hpp).
/// clusters: [rows].
void find_clusters(const index::SearchIndex& index, const index::SearchInput& in, Range rows,
                   const std::uint32_t* cluster_of, std::uint32_t* clusters);

/// A point that is not in the index. id: its index in an array of coordinates. key: its index::Grid::key_at().
struct KeyedPoint {
  std::uint64_t key;
  std::uint32_t id;
};

/// For each point, sets clusters[id] to the lowest cluster_of[p] over the positions p within eps of it; kNoCluster if
/// none of them has a cluster. points: sorted by key. coordinates: [ids × dims], row-major.
/// cluster_of: as for find_clusters(). Requires that finds_clusters_at(grid) is true (lowest_clusters.hpp).
void find_clusters_at(const index::Grid& grid, const index::SearchInput& in, std::span<const KeyedPoint> points,
                      const double* coordinates, const std::uint32_t* cluster_of, std::uint32_t* clusters);

}  // namespace epsflow::clustering
