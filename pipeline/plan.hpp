// What a run would do, and why, before it is done.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <epsflow/core/choices.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/core/sweep.hpp>
#include <epsflow/pipeline/engine.hpp>
#include <epsflow/pipeline/options.hpp>

namespace epsflow {

/// What a run would do with the variants of one eps.
struct GroupPlan {
  double eps = 0;
  std::vector<std::uint32_t> minpts;  ///< descending
  Strategy strategy = Strategy::direct;
  std::string reason;                          ///< of the choice, in words
  bool cliques = false;                        ///< any two points of a cell are neighbours
  std::uint64_t cells = 0;                     ///< non-empty ones; 0 where the device finds them only as it clusters
  std::uint64_t candidates = 0;                ///< distance tests of a search of all points; 0 where cells are cliques
  IndexChoice index = IndexChoice::grid;       ///< where candidates come from
  DecideChoice decide = DecideChoice::scalar;  ///< how they are decided
  /// Times that a point's candidates are looked through, at most: 1 for a table. Without one, once to count, once when it
  /// becomes core, and once for each minpts for which it does not.
  std::uint64_t passes = 1;
  std::uint64_t pairs = 0;  ///< of the table, where it is csr: counted, or estimated from a sample
  bool packed = false;      ///< the table is packed
  /// Host memory while the group is alone: points, index, and the table or what clustering needs; the labels that are
  /// handed over not counted.
  std::uint64_t bytes = 0;
  bool fits = true;  ///< EngineOptions::memory has room for it
};

/// One plan per eps, in the order of the run, largest eps first. Builds each index, and plans a table where there is one,
/// but searches nothing. Throws as run() does, but not for a table that does not fit.
[[nodiscard]] std::vector<GroupPlan> plan(PointsView points, const Sweep& sweep, const EngineOptions& engine = {},
                                          const RunOptions& options = {}, const Observer& observer = {});
[[nodiscard]] std::vector<GroupPlan> plan(PointsView points, const Metric& metric, const Sweep& sweep,
                                          const EngineOptions& engine = {}, const RunOptions& options = {},
                                          const Observer& observer = {});
[[nodiscard]] std::vector<GroupPlan> plan(const Dataset& data, const Sweep& sweep, const RunOptions& options = {},
                                          const Observer& observer = {});

}  // namespace epsflow
