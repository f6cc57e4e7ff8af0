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

/// What a flow works on. Everything outlives it.
struct FlowContext {
  const LoadedPoints& points;
  const LoadedWeights* weights;  ///< of the points; null where they have none
  const RunOptions& options;
  const Observer& observer;
  Backend& backend;
  ArenaPool& pool;
  unsigned threads = 1;
  /// Cancelled by the caller's token, and by the flow itself once a stage has failed.
  CancelToken& stop;
};

/// What a table is made with, as the options say it or as suits the backend.
[[nodiscard]] TableOptions table_options(const SearchOptions& options, const Backend& backend, unsigned threads);

/// What indexes are made for, but their eps. weights: of the points, or null.
[[nodiscard]] IndexOptions index_options(const RunOptions& options, Cells cells, const LoadedWeights* weights) noexcept;

/// What becomes of the groups.
struct FlowConsumer {
  /// Called with a finished table from a task of the graph; the table is freed when it returns.
  std::function<void(const stages::EpsJob&)> consume;
  /// Bytes that consume() will need for a group of so many variants, set aside before the table is made.
  std::function<std::uint64_t(std::size_t variants)> bytes;
  /// Called with the labels of a variant that needed no table. Empty: all groups go through tables.
  std::function<void(VariantResult&&)> result;
  /// Called with eps and the share of its rows as rows of a table arrive, from any thread.
  std::function<void(double, double)> moved;
};

/// Takes each group to its table, which goes to the consumer, or to its labels without one, as stages/choose_strategy.hpp
/// says. Up to RunOptions::tables groups are in flight, so that one is prepared while another is clustered.
///
/// The first exception of any stage stops the flow: no new work begins, every lane comes home, and it is thrown from
/// here. Throws Cancelled when the caller's token stopped it. more: for groups behind these; or null.
void run_flow(const FlowContext& context, std::vector<stages::EpsGroup> groups, const FlowConsumer& consumer,
              MoreGroups more = nullptr);

}  // namespace epsflow
