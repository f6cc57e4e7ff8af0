// The loops of DBSCAN over rows that are searched, on vectors: counts of neighbours, unions of points, clusters of border points.
#pragma once

#include <cstdint>
#include <span>

#include <epsflow/clustering/cluster_source.hpp>
#include <epsflow/clustering/weighing.hpp>
#include <epsflow/index/grid.hpp>
#include <epsflow/index/row_search.hpp>
#include <epsflow/index/search_index.hpp>

namespace epsflow::clustering {

/// counts[p]: the number of neighbours of each position p of `rows`, or `most` if there are more. counts: [n].
void count_rows(const index::SearchIndex& index, const index::SearchInput& in, Range rows, std::uint32_t most,
                std::uint32_t* counts);

/// The same of the weights of neighbours: counts[p] is on the same side of each minpts as their sum.
void weigh_rows(const index::SearchIndex& index, const index::SearchInput& in, Range rows, const Weighing& weighing,
                std::uint32_t* counts);

/// Unites the points of `rows` that the level makes core with their core neighbours. counts, parent: [n]; as unite_rows() of a
/// table has them (row_loops.hpp).
void unite_rows(const index::SearchIndex& index, const index::SearchInput& in, Range rows, const CoreLevel& level,
                const std::uint32_t* counts, std::uint32_t* parent);

/// The cluster of each point of `rows`, as find_clusters() of a table has them. cluster_of: [n]. clusters: [rows].
void find_clusters(const index::SearchIndex& index, const index::SearchInput& in, Range rows,
                   const std::uint32_t* cluster_of, std::uint32_t* clusters);

/// A place and the key of the cell that it is in or nearest to.
struct KeyedPlace {
  std::uint64_t key;
  std::uint32_t id;
};

/// clusters[id]: the lowest of cluster_of[p] over the positions p within eps of each place, kNoCluster where none has one. places:
/// sorted by key. coordinates: [dims] of each id. The grid is one that finds places, and all of its dimensions are indexed.
void find_clusters_at(const index::Grid& grid, const index::SearchInput& in, std::span<const KeyedPlace> places,
                      const double* coordinates, const std::uint32_t* cluster_of, std::uint32_t* clusters);

}  // namespace epsflow::clustering
