// The task graph: from groups of variants to labels, through tables or without them.
#pragma once

#include <functional>
#include <vector>

#include <epsflow/core/backend.hpp>
#include <epsflow/core/cancel.hpp>
#include <epsflow/core/memory.hpp>
#include <epsflow/pipeline/admission.hpp>
#include <epsflow/pipeline/options.hpp>
#include <epsflow/stages/eps_job.hpp>

namespace epsflow {

/// The inputs of a flow, which must outlive it.
struct FlowContext {
  const LoadedPoints& points;
  const LoadedWeights* weights;  ///< null if the points have none
  const RunOptions& options;
  const Observer& observer;
  Backend& backend;
  ArenaPool& pool;
  unsigned threads = 1;
  /// Cancelled by the caller's token, and by the flow itself after a stage has failed.
  CancelToken& stop;
};

/// Returns the options of a table: as given, or as suits the backend.
[[nodiscard]] TableOptions table_options(const SearchOptions& options, const Backend& backend, unsigned threads);

/// Returns the options of indexes, without eps. weights: of the points, or null.
[[nodiscard]] IndexOptions index_options(const RunOptions& options, Cells cells, const LoadedWeights* weights) noexcept;

/// Receives the results of the groups.
struct FlowConsumer {
  /// Called with each finished table (EpsJob::table) from a task of the graph, possibly for several tables at once. The
  /// table is freed when it returns.
  std::function<void(const stages::EpsJob&)> consume;
  /// Returns the bytes that consume() needs for a group of that many variants, reserved before the table.
  std::function<std::uint64_t(std::size_t variants)> bytes;
  /// Called with the labels of a variant that needed no table. Empty: all groups go through tables.
  std::function<void(VariantResult&&)> result;
  /// Called with eps and the finished share of rows when rows of a table arrive, from any thread.
  std::function<void(double, double)> progress;
};

/// Makes the table of each group and passes it to the consumer, or makes its labels without one, as
/// stages/choose_strategy.hpp chooses. Up to RunOptions::tables groups are in flight, one is prepared while another is
/// clustered.
///
/// The first exception of any stage stops the flow: no new work begins, every lane is returned, and run_flow() throws
/// it. Throws Cancelled if the caller's token stopped it. more: returns groups after these; or null.
void run_flow(const FlowContext& context, std::vector<stages::EpsGroup> groups, const FlowConsumer& consumer,
              MoreGroups more = nullptr);

}  // namespace epsflow
