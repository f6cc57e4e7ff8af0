#include <epsflow/pipeline/plan.hpp>

#include <algorithm>

#include <epsflow/clustering/verify.hpp>
#include <epsflow/pipeline/flow.hpp>
#include <epsflow/pipeline/rehearsal.hpp>
#include <epsflow/pipeline/session.hpp>
#include <epsflow/stages/choose_strategy.hpp>
#include <epsflow/stages/cluster_variants.hpp>

namespace epsflow {
namespace {

/// memory: bytes that are free before anything is planned, which the rehearsal takes some of.
GroupPlan plan_group(const RunOptions& options, Session& session, Rehearsal& rehearsal, const stages::EpsGroup& group,
                     std::uint64_t memory) {
  const LoadedPoints& points = session.points();
  const stages::ChooseStrategy choose{strategy_wanted(options), table_wanted(options), points.dims(), memory};
  IndexOptions of_group = index_options(options, choose.cells(), session.weights());
  of_group.eps = group.radius;
  const auto index = points.build_index(of_group, session.stop());
  const IndexFigures figures = index->figures();
  const stages::StrategyAnswer answer = choose(group, *index, figures);
  GroupPlan plan{.eps = group.eps,
                 .minpts = group.minpts,
                 .strategy = answer.strategy,
                 .reason = std::string(answer.reason),
                 .cliques = figures.cliques,
                 .cells = figures.cells,
                 .candidates = figures.candidates,
                 .index = figures.index,
                 .decide = figures.decide};
  std::uint64_t use = 0;  // bytes of what the index is used for
  if (plan.strategy == Strategy::direct) {
    plan.passes = 2 + plan.minpts.size();
    use = index->direct_bytes({.minpts = plan.minpts,
                               .core_mask = options.core_mask,
                               .labels = options.labels,
                               .weights = session.weights()}) +
          (options.verify ? points.size() * clustering::kVerifyBytesPerPoint : 0);
  } else {
    const auto search = index->table(table_options(options.search, session.backend(), session.threads()));
    const auto layout = search->layout();
    plan.packed = layout != nullptr;
    plan.pairs = search->plan().pairs;
    const stages::ClusterVariants cluster{.method = options.method,
                                          .verify = options.verify,
                                          .weights = whole_of(session.weights()),
                                          .workers = session.threads(),
                                          .cancel = session.stop()};
    use = (plan.packed ? packed_table_bytes(points.size(), *layout) : csr_table_bytes(points.size(), plan.pairs)) +
          cluster.bytes(points.size(), plan.minpts.size());
  }
  // Building the index takes more than it holds.
  const std::uint64_t held = points.bytes() + (session.weights() != nullptr ? session.weights()->whole.bytes() : 0);
  plan.bytes = held + std::max(points.index_bytes(of_group), index->bytes() + use);
  plan.fits = plan.bytes - held <= choose.memory;
  if (plan.fits) plan.seconds = rehearsal.seconds(group, of_group, plan.candidates, plan.strategy);
  return plan;
}

}  // namespace

std::optional<double> total_seconds(std::span<const GroupPlan> plans) noexcept {
  double total = 0;
  for (const GroupPlan& plan : plans) {
    if (!plan.seconds) return std::nullopt;
    total += *plan.seconds;
  }
  return total;
}

std::vector<GroupPlan> plan(const PointSet& points, const Sweep& sweep, const EngineOptions& engine,
                            const RunOptions& options, const Observer& observer) {
  std::vector<GroupPlan> plans;
  if (sweep.size() == 0) return plans;
  const LoadedSet loaded(points, engine, options, observer);
  Session session(loaded.data(), options, observer);
  session.on_threads([&] {
    Rehearsal rehearsal(session, options);
    const std::uint64_t memory = session.pool().available();
    for (const stages::EpsGroup& group : session.groups(sweep)) {
      session.stop().check();
      plans.push_back(plan_group(options, session, rehearsal, group, memory));
    }
  });
  return plans;
}

}  // namespace epsflow
