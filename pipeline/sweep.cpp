#include <epsflow/pipeline/sweep.hpp>

#include <map>
#include <utility>

#include <epsflow/pipeline/reporter.hpp>
#include <epsflow/pipeline/session.hpp>
#include <epsflow/stages/cluster_variants.hpp>
#include <epsflow/stages/group_by_eps.hpp>

namespace epsflow {

void run_each(PointsView points, const Sweep& sweep, const Options& options,
              const std::function<void(VariantResult&&)>& on_result, const Observer& observer) {
  if (observer.cancel != nullptr) observer.cancel->check();
  if (sweep.size() == 0) return;
  Session session(points, options, observer);
  Reporter reporter(observer, sweep.size());
  std::vector<stages::EpsGroup> groups;
  {
    if (observer.before_stage) observer.before_stage(Stage::group_by_eps);
    const TraceScope scope(observer.trace, Stage::group_by_eps, 0, {"variants", sweep.size()});
    groups = stages::group_by_eps(sweep);
  }
  const stages::ClusterVariants cluster{.method = options.method,
                                        .verify = options.verify,
                                        .core_mask = options.core_mask,
                                        .points = points,
                                        .workers = session.threads(),
                                        .cancel = session.stop(),
                                        .trace = observer.trace};
  const auto emit = [&](VariantResult&& result) {
    reporter.done([&] {
      if (observer.before_stage) observer.before_stage(Stage::emit_results);
      const TraceScope scope(observer.trace, Stage::emit_results, result.variant.eps,
                             {"minpts", result.variant.minpts});
      on_result(std::move(result));
    });
  };
  session.run(std::move(groups), {.consume =
                                      [&](const stages::EpsJob& job) {
                                        if (observer.before_stage) observer.before_stage(Stage::cluster_variants);
                                        cluster(job, emit);
                                      },
                                  .bytes = [&](std::size_t variants) { return cluster.bytes(points.size(), variants); },
                                  .result = emit,
                                  .moved = [&](double eps, double share) { reporter.moved(eps, share); }});
}

std::vector<VariantResult> run(PointsView points, const Sweep& sweep, const Options& options,
                               const Observer& observer) {
  std::vector<VariantResult> results(sweep.size());
  std::map<std::pair<double, std::uint32_t>, std::size_t> places;
  for (const Variant& v : sweep.variants()) places.emplace(std::pair(v.eps, v.minpts), places.size());
  run_each(
      points, sweep, options,
      [&](VariantResult&& result) {
        results[places.at({result.variant.eps, result.variant.minpts})] = std::move(result);
      },
      observer);
  return results;
}

}  // namespace epsflow
