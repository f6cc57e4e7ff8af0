// The counts of clusters, row by row.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <epsflow/clustering/device_window.hpp>
#include <epsflow/core/labels.hpp>
#include <epsflow/core/parallel.hpp>

namespace epsflow::windows {

/// Counts some rows.
class ClusterTally {
 public:
  ClusterTally(std::size_t earlier, std::size_t clusters) : clusters_(clusters), shared_(earlier) {}

  /// last: the label before the step, or kNoise if the row was not core then.
  void add(std::size_t row, std::int32_t label, bool is_core, std::int32_t last) {
    if (label == kNoise) return;
    const auto k = static_cast<std::uint32_t>(label);
    ClusterCounts& cluster = clusters_[k];
    if (!is_core) {
      ++cluster.borders;
      return;
    }
    if (cluster.core++ == 0) cluster.first_row = static_cast<std::uint32_t>(row);
    if (last != kNoise) shared_.add(static_cast<std::uint32_t>(last), k, 1);
  }

  /// Returns the counts of all rows. parts: the counts of pieces of the rows, in the order of the rows.
  [[nodiscard]] static CountedClusters sum(std::span<ClusterTally> parts, std::size_t earlier, std::size_t clusters) {
    CountedClusters all{std::vector<ClusterCounts>(clusters), {}};
    SharedCoreCounter shared(earlier);
    for (ClusterTally& part : parts) {
      for (std::size_t k = 0; k < clusters; ++k) {
        ClusterCounts& sums = all.clusters[k];
        if (sums.core == 0) sums.first_row = part.clusters_[k].first_row;
        sums.core += part.clusters_[k].core;
        sums.borders += part.clusters_[k].borders;
      }
      for (const SharedCore& pair : std::move(part.shared_).take()) shared.add(pair.before, pair.after, pair.points);
    }
    all.shared = std::move(shared).take();
    return all;
  }

 private:
  std::vector<ClusterCounts> clusters_;
  SharedCoreCounter shared_;
};

/// Counts rows in parallel. earlier, clusters: the numbers of clusters before and after the step. visit(counts, begin,
/// end): adds the rows of a range to the counts.
template <class Visit>
[[nodiscard]] CountedClusters count_rows(std::size_t rows, std::size_t earlier, std::size_t clusters, Visit&& visit) {
  // All pieces but the last have this many rows, because a piece has an entry for each cluster, which costs as much as
  // several rows.
  const std::size_t piece = std::max<std::size_t>(1 << 15, 4 * (clusters + earlier));
  const std::size_t pieces = (rows + piece - 1) / piece;
  std::vector<ClusterTally> parts(pieces, ClusterTally(earlier, clusters));
  parallel_for(pieces, [&](std::size_t p) { visit(parts[p], p * piece, std::min(rows, (p + 1) * piece)); });
  return ClusterTally::sum(parts, earlier, clusters);
}

}  // namespace epsflow::windows
