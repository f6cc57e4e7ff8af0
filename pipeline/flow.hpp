// The task graph: from groups of variants to labels, through tables or without them.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <epsflow/core/backend.hpp>
#include <epsflow/core/cancel.hpp>
#include <epsflow/core/memory.hpp>
#include <epsflow/pipeline/admission.hpp>
#include <epsflow/pipeline/options.hpp>
#include <epsflow/stages/cluster_variants.hpp>
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

// The options of the steps of a flow. A run and its plan have them from here.

/// Returns the options of a table: as given, or as suits the backend.
[[nodiscard]] TableOptions table_options(const FlowContext& context);
/// Returns the options of indexes, without eps.
[[nodiscard]] IndexOptions index_options(const FlowContext& context, Cells cells) noexcept;
/// Returns the options of clustering without a table.
[[nodiscard]] DirectOptions direct_options(const FlowContext& context, std::span<const std::uint32_t> minpts) noexcept;
/// Returns the stage that clusters by a table.
[[nodiscard]] stages::ClusterVariants cluster_variants(const FlowContext& context);

/// Receives the results of the groups.
struct FlowConsumer {
  /// Called with each variant, from any thread, possibly for several at once.
  std::function<void(VariantResult&&)> result;
  /// Called with eps and the finished share of rows when rows of a table arrive, from any thread.
  std::function<void(double, double)> progress = [](double, double) {};
  /// If it is set, all groups go through tables, and it is called with each finished table (EpsJob::table) in place of
  /// result(): from a task of the graph, possibly for several tables at once. The table is freed when it returns.
  std::function<void(const stages::EpsJob&)> table = nullptr;
};

/// Clusters the variants of each group by a table or without one, as stages/choose_strategy.hpp chooses. Up to
/// RunOptions::tables groups are in flight, one is prepared while another is clustered.
///
/// The first exception of any stage stops the flow: no new work begins, every lane (the buffers of a batch of rows) is
/// returned, and run_flow() throws it. Throws Cancelled if the caller's token stopped it. Works on the threads of the
/// calling arena and of the backend, and returns when all is done. more: returns groups after these; or null.
void run_flow(const FlowContext& context, std::vector<stages::EpsGroup> groups, const FlowConsumer& consumer,
              MoreGroups more = nullptr);

}  // namespace epsflow
