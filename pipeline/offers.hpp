// The offers of an exploration: which clusterings of its grid are labelled and offered to the user.
#pragma once

#include <vector>

#include <epsflow/clustering/eps_per_cluster.hpp>
#include <epsflow/clustering/map_scores.hpp>
#include <epsflow/core/cancel.hpp>
#include <epsflow/pipeline/engine.hpp>
#include <epsflow/pipeline/explore.hpp>
#include <epsflow/pipeline/explore_time.hpp>
#include <epsflow/pipeline/options.hpp>

namespace epsflow {

/// Rounds a score to four decimals. Further digits mean nothing, because the sizes of clusters that it is made of are
/// estimates (sizes_in_any_order()).
[[nodiscard]] double round_score(double score);

/// Labels clusterings and offers them. All that it is given except `options` must outlive it.
class Offering {
 public:
  Offering(const Dataset& data, const RunOptions& options, const MapScores& scores, Forecast& forecast,
           const TimeBound& bound);

  /// Fills recommended, one_eps and alternatives. chosen: the recommended cell, which is always labelled; the others
  /// are only while there is time. caller: null, or a token that cancels all. Returns false if the time did not suffice
  /// for all offers. Throws as run() does.
  [[nodiscard]] bool make(Exploration& made, MapIndex chosen, const CancelToken* caller);

 private:
  [[nodiscard]] Offer of_cell(MapIndex cell, const CancelToken* cancel);
  /// cell: the offer of the cell that the clusters were grown from.
  [[nodiscard]] Offer of_grown(const EpsPerCluster& clusters, const Offer& cell);
  [[nodiscard]] Offer of_split(const EpsPerCluster& clusters);
  [[nodiscard]] Offer of_clusters(const EpsPerCluster& clusters);
  template <class Take>
  void run_each(const std::vector<Variant>& variants, const CancelToken* cancel, const Take& take);

  const Dataset& data_;
  RunOptions options_;
  const MapScores& scores_;
  Forecast& forecast_;
  const TimeBound& bound_;
};

}  // namespace epsflow
