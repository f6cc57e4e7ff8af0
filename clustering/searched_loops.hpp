// The vector loops of DBSCAN over searched rows: counts of neighbours, unions of points, clusters of border points.
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

/// Sets counts[p] to a number that reaches the same minpts as the sum of the weights of the neighbours of p.
void weigh_rows(const index::SearchIndex& index, const index::SearchInput& in, Range rows, const Weighing& weighing,
                std::uint32_t* counts);

/// Unites the points of `rows` that the level makes core with their core neighbours. counts, parent: [n] as in
/// unite_rows() of a table (row_loops.hpp).
void unite_rows(const index::SearchIndex& index, const index::SearchInput& in, Range rows, const CoreLevel& level,
                const std::uint32_t* counts, std::uint32_t* parent);

/// Finds the cluster of each point of `rows`, as find_clusters() of a table (row_loops.hpp). cluster_of: [n]. clusters:
/// [rows].
void find_clusters(const index::SearchIndex& index, const index::SearchInput& in, Range rows,
                   const std::uint32_t* cluster_of, std::uint32_t* clusters);

/// A place, by its index in an array of coordinates, and its index::Grid::key_at().
struct KeyedPlace {
  std::uint64_t key;
  std::uint32_t id;
};

/// Sets clusters[id] to the lowest cluster_of[p] over the positions p within eps of each place; or kNoCluster. places:
/// sorted by key. coordinates: [places × dims] by id. The grid must satisfy finds_clusters_at() (lowest_clusters.hpp).
void find_clusters_at(const index::Grid& grid, const index::SearchInput& in, std::span<const KeyedPlace> places,
                      const double* coordinates, const std::uint32_t* cluster_of, std::uint32_t* clusters);

}  // namespace epsflow::clustering
