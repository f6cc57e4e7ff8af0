// DBSCAN of neighbours, or of distances, that the caller has computed.
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

/// Options of a clustering of a table.
struct TableRun {
  /// [host] [n], or empty: weights to sum in place of counting neighbours, as in Dataset::weighted().
  std::span<const double> weights = {};
  /// Fills VariantResult::core.
  bool core_mask = false;
  /// Rounds each eps to float32 before distances are compared with it, as NumPy does if distances are float32.
  bool float32_eps = false;
  /// Accepts rows that are not symmetric. A cluster then grows from each core point, in the order of ids, along the
  /// rows of its core points, over all points that no earlier cluster has, as in scikit-learn; this uses one thread.
  /// Without effect if the rows are symmetric.
  bool directed = false;
};

/// Clusters points by a table of neighbours, under every variant of `sweep`. In a table with distances the neighbours
/// within each eps count, eps included, so one table serves every eps up to the eps that it was made for. In a table
/// without distances all entries are neighbours, and the sweep has one eps. All minpts of an eps share one union-find.
/// Results are in the order of the sweep; labels are numbered as run() numbers them.
///
/// If NeighborsView::eps is known, no eps of the sweep may be larger, and without distances none smaller.
///
/// The table is checked: each row ascends, has ids below n and the point itself; distances are numbers of at least 0;
/// and unless TableRun::directed is set, j is in row i exactly if i is in row j, under every eps.
///
/// Time: O(entries · log r) for the check, with r entries in a row, then O(entries) for each eps. Works on the CPU;
/// only the engine options memory, threads and backend = cpu may be set. Memory beside the table: 21 bytes for each
/// point, 29 with weights, within EngineOptions::memory. Throws InputError for an invalid table, naming the row;
/// UsageError for invalid options or weights, for an eps that the table does not cover, and for several eps without
/// distances; ResourceError; Cancelled.
[[nodiscard]] std::vector<VariantResult> cluster(const NeighborsView& table, const Sweep& sweep,
                                                 const TableRun& run = {}, const EngineOptions& engine = {},
                                                 const Observer& observer = {});
/// Clusters in the same way, but hands over each result as it is made: by descending eps and minpts, one at a time.
void cluster_each(const NeighborsView& table, const Sweep& sweep, const OnResult& on_result, const TableRun& run = {},
                  const EngineOptions& engine = {}, const Observer& observer = {});

/// Returns the table of all pairs within eps of a matrix of distances: [host] [n × n], row-major; float32 is widened
/// first. Its entries keep their distances; each point is an entry of its own row, whatever its distance to itself.
/// O(n²). The table and the matrix count in EngineOptions::memory. Throws InputError for a distance that is NaN or less
/// than 0, naming row and column; UsageError if the matrix does not have n · n values; and as cluster().
[[nodiscard]] Neighbors neighbors_of_distances(std::span<const double> distances, std::size_t n, double eps,
                                               const EngineOptions& engine = {}, const Observer& observer = {});
[[nodiscard]] Neighbors neighbors_of_distances(std::span<const float> distances, std::size_t n, double eps,
                                               const EngineOptions& engine = {}, const Observer& observer = {});

}  // namespace epsflow
