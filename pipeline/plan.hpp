// A plan describes the steps of a run, and the reasons for them, before the run.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <epsflow/core/choices.hpp>
#include <epsflow/core/sweep.hpp>
#include <epsflow/pipeline/options.hpp>
#include <epsflow/pipeline/point_set.hpp>

namespace epsflow {

/// The plan of the variants of one eps.
struct GroupPlan {
  double eps = 0;
  std::vector<std::uint32_t> minpts;  ///< descending
  Strategy strategy = Strategy::direct;
  std::string reason;        ///< reason for the strategy, in words
  bool dense_boxes = false;  ///< true if any two points of a cell are neighbours
  /// Non-empty cells of the grid. 0 if the index has tiles or a list of pairs in place of cells, or if a GPU makes
  /// cells later.
  std::uint64_t cells = 0;
  /// Distance tests of one search for the neighbours of every point. 0, which means not counted, if dense_boxes is true
  /// or the index is a list of pairs.
  std::uint64_t candidates = 0;
  IndexChoice index = IndexChoice::grid;       ///< source of candidates
  DecideChoice decide = DecideChoice::scalar;  ///< test that candidates are decided by
  /// An upper bound on the number of times that the candidates of a point are tested. With a table they are tested
  /// once. Without one they are tested once to count its neighbours, and once at each minpts from the largest down to
  /// the first at which the point is core: one more than there are minpts. Keep::summary adds one if dense_boxes is
  /// true.
  std::uint64_t passes = 1;
  /// Entries of a csr table: exact on a GPU with Kernel::rows, else estimated. 0 if packed or without a table.
  std::uint64_t pairs = 0;
  bool packed = false;  ///< true if there is a table and it is packed
  /// Bytes of host memory that this eps needs if no other eps is in flight: points, weights, index, and table or
  /// clustering. Labels of finished variants are not included.
  std::uint64_t bytes = 0;
  bool fits = true;  ///< true if EngineOptions::memory is enough for it
  /// Estimated time of the variants of this eps on the engine's threads, from the data set in memory to results in
  /// memory, if nothing else is in flight. It comes from a run on a sample of the points, and is mostly within a factor
  /// of two. Empty on a GPU, for which such a run predicts little, and if the run or the sample does not fit.
  std::optional<double> seconds = std::nullopt;
};

/// Returns one plan per eps, in the order of the run, largest eps first. Builds each index, and counts the pairs of its
/// table, if it has one, or estimates them from a sample. On the CPU it then runs the variants that fit on a sample of
/// the points, for GroupPlan::seconds. The sample is a sixteenth of the points or 32,768, whichever is more, at most
/// all points, and smaller if it would have too many candidates. If it has all points, this takes as long as the run
/// itself. Throws as run() does, except that a table or clustering that does not fit sets GroupPlan::fits to false.
[[nodiscard]] std::vector<GroupPlan> plan(const PointSet& points, const Sweep& sweep, const EngineOptions& engine = {},
                                          const RunOptions& options = {}, const Observer& observer = {});

/// Returns the total seconds of all groups, which take turns on the threads. Empty if one is unknown.
[[nodiscard]] std::optional<double> total_seconds(std::span<const GroupPlan> plans) noexcept;

}  // namespace epsflow
