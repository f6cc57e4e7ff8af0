// DBSCAN of neighbours, or of distances, that the caller has already.
#pragma once

#include <span>
#include <vector>

#include <epsflow/core/labels.hpp>
#include <epsflow/core/neighbors_view.hpp>
#include <epsflow/core/sweep.hpp>
#include <epsflow/pipeline/neighbors.hpp>
#include <epsflow/pipeline/options.hpp>
#include <epsflow/pipeline/sweep.hpp>

namespace epsflow {

/// What a clustering of a table goes by.
struct TableRun {
  /// [host] [n], or empty: weights to sum in place of counting neighbours, as Dataset::weighted() says.
  std::span<const double> weights = {};
  /// Fill VariantResult::core.
  bool core_mask = false;
  /// Round each eps to float32 before distances are compared with it, as NumPy does where they are float32.
  bool float32_eps = false;
  /// Take rows that are not symmetric, too. From each core point in the order of the ids a cluster then grows along the rows of
  /// its core points, over all that no earlier cluster has, as scikit-learn's do; on one thread.
  bool directed = false;
};

/// Clusters points by a table of neighbours, under every variant of `sweep`. Of a table with distances, the neighbours within
/// each eps count, eps included; so one table serves every eps up to that which it was made for. Of a table without distances
/// all entries are neighbours, and the sweep has one eps. All minpts of an eps share one union-find. Results are in the order of
/// the sweep; labels are numbered as run() numbers them.
///
/// If NeighborsView::eps is known, no eps of the sweep may be larger, and without distances none smaller.
///
/// The table is checked: each row ascends, has ids below n and the point itself, distances are numbers of at least 0, and where
/// j is a neighbour of i, i is one of j, under every eps, unless TableRun::directed.
///
/// Time: O(entries · log r) for the check, r the entries of a row, then O(entries) for each eps. On the CPU; of the engine's
/// options, memory, threads and backend = cpu may be given. Memory: 21 bytes for each point beside the table, within
/// EngineOptions::memory. Throws InputError for a table that is not so, naming the row; UsageError for options, weights and
/// several eps without distances; ResourceError; Cancelled.
[[nodiscard]] std::vector<VariantResult> cluster(const NeighborsView& table, const Sweep& sweep,
                                                 const TableRun& run = {}, const EngineOptions& engine = {},
                                                 const Observer& observer = {});
/// The same, result by result as they are made: by descending eps and minpts. One at a time.
void cluster_each(const NeighborsView& table, const Sweep& sweep, const OnResult& on_result, const TableRun& run = {},
                  const EngineOptions& engine = {}, const Observer& observer = {});

/// The table of all pairs within eps of a matrix of distances: [host] [n × n], row-major; float32 is widened. Its entries keep
/// their distances; each point is an entry of its own row, whatever its distance to itself. O(n²). The table and the matrix count
/// in EngineOptions::memory. Throws InputError for a distance that is NaN or less than 0, naming row and column; UsageError for a
/// matrix that does not have n · n values; and as cluster().
[[nodiscard]] Neighbors neighbors_of_distances(std::span<const double> distances, std::size_t n, double eps,
                                               const EngineOptions& engine = {}, const Observer& observer = {});
[[nodiscard]] Neighbors neighbors_of_distances(std::span<const float> distances, std::size_t n, double eps,
                                               const EngineOptions& engine = {}, const Observer& observer = {});

}  // namespace epsflow
