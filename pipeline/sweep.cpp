#include <epsflow/pipeline/sweep.hpp>

#include <algorithm>

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
    const TraceScope scope(observer.trace, Stage::group_by_eps, 0, sweep.size());
    groups = stages::group_by_eps(sweep);
  }
  const stages::ClusterVariants cluster{options.method, options.verify, session.threads(), session.stop(),
                                        observer.trace};
  const auto emit = [&](VariantResult&& result) {
    reporter.done([&] {
      if (observer.before_stage) observer.before_stage(Stage::emit_results);
      const TraceScope scope(observer.trace, Stage::emit_results, result.variant.eps, result.variant.minpts);
      on_result(std::move(result));
    });
  };
  session.run(std::move(groups), {.consume =
                                      [&](const stages::TableJob& job) {
                                        if (observer.before_stage) observer.before_stage(Stage::cluster_variants);
                                        cluster(job, emit);
                                      },
                                  .bytes = [&](std::size_t variants) { return cluster.bytes(points.size(), variants); },
                                  .moved = [&](double eps, double share) { reporter.moved(eps, share); }});
}

std::vector<VariantResult> run(PointsView points, const Sweep& sweep, const Options& options,
                               const Observer& observer) {
  std::vector<VariantResult> results(sweep.size());
  run_each(
      points, sweep, options,
      [&](VariantResult&& result) {
        const auto& variants = sweep.variants();
        const auto at = std::find(variants.begin(), variants.end(), result.variant) - variants.begin();
        results[at] = std::move(result);
      },
      observer);
  return results;
}

}  // namespace epsflow
