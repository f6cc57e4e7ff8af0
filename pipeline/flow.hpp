// The task graph: from groups of variants to finished tables, and whatever is done with each table.
#pragma once

#include <functional>
#include <vector>

#include <epsflow/core/backend.hpp>
#include <epsflow/core/cancel.hpp>
#include <epsflow/core/memory.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/pipeline/options.hpp>
#include <epsflow/stages/table_job.hpp>

namespace epsflow {

/// What a flow works on. Everything outlives it.
struct FlowContext {
  PointsView points;
  const Options& options;
  const Observer& observer;
  Backend& backend;
  ArenaPool& pool;
  unsigned threads = 1;
  /// Cancelled by the caller's token, and by the flow itself once a stage has failed.
  CancelToken& stop;
};

/// Makes the table of each group and calls consume(job) with it, from a task of the graph; the table is freed when
/// consume returns. Up to Options::tables tables are in flight, so that one is made while another is consumed. Calls
/// moved(eps, share of rows) as rows arrive.
///
/// The first exception of any stage stops the flow: no new work begins, every lane comes home, and it is thrown from
/// here. Throws Cancelled when the caller's token stopped it.
void run_flow(const FlowContext& context, std::vector<stages::EpsGroup> groups,
              const std::function<void(const stages::TableJob&)>& consume,
              const std::function<void(double, double)>& moved);

}  // namespace epsflow
