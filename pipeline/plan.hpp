// What a run would do, and why, before it is done.
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

/// What a run would do with the variants of one eps.
struct GroupPlan {
  double eps = 0;
  std::vector<std::uint32_t> minpts;  ///< descending
  Strategy strategy = Strategy::direct;
  std::string reason;    ///< of the choice, in words
  bool cliques = false;  ///< any two points of a cell are neighbours
  /// Non-empty cells of the grid. 0 if the index has tiles in place of cells, or if a GPU makes the cells only while it clusters.
  std::uint64_t cells = 0;
  /// Distance tests that one search for the neighbours of every point makes. 0 (not counted) if `cliques`.
  std::uint64_t candidates = 0;
  IndexChoice index = IndexChoice::grid;       ///< where candidates come from
  DecideChoice decide = DecideChoice::scalar;  ///< how they are decided
  /// How often the candidates of a point are tested, at most. With a table: once. Without one: once to count its neighbours. Then
  /// minpts go from the largest down: once more for each at which the point is not core, and once for the first at which it is.
  std::uint64_t passes = 1;
  /// Entries of a csr table: exact on a GPU with Kernel::rows, else estimated from a sample. 0 for a packed table and without a table.
  std::uint64_t pairs = 0;
  bool packed = false;  ///< the table is packed
  /// Host memory that this eps needs if no other eps is worked on at the same time: points, index, and the table and what clustering needs.
  /// The returned labels do not count.
  std::uint64_t bytes = 0;
  bool fits = true;  ///< EngineOptions::memory has room for it
  /// How long the variants of this eps take on the engine's threads, from the data set in memory to results in memory, if nothing else
  /// is worked on. From a run on a sample of the points, and within a factor of two mostly. Nothing on a GPU, where that says little,
  /// and where the table or the sample does not fit.
  std::optional<double> seconds = std::nullopt;
};

/// One plan per eps, in the order of the run, largest eps first. Builds each index, and where there is a table counts its pairs or
/// estimates them from a sample. On the CPU it then runs the variants on a sample of the points, for GroupPlan::seconds: a sixteenth of
/// them, or 32,768, or fewer where these would be compared with too many; so it takes as long as the run itself where there are no
/// more. Throws as run() does, but not where a table does not fit:
/// GroupPlan::fits tells that.
[[nodiscard]] std::vector<GroupPlan> plan(const PointSet& points, const Sweep& sweep, const EngineOptions& engine = {},
                                          const RunOptions& options = {}, const Observer& observer = {});

/// The seconds of all groups together, which take turns on the threads. Nothing where those of one are not known.
[[nodiscard]] std::optional<double> total_seconds(std::span<const GroupPlan> plans) noexcept;

}  // namespace epsflow
