#include <epsflow/pipeline/sweep.hpp>

#include <algorithm>
#include <mutex>

#include <epsflow/pipeline/session.hpp>
#include <epsflow/stages/cluster_variants.hpp>
#include <epsflow/stages/group_by_eps.hpp>

namespace epsflow {
namespace {

using Clock = std::chrono::steady_clock;

/// Hands results and progress to the caller, one at a time.
class Reporter {
 public:
  Reporter(const std::function<void(VariantResult&&)>& on_result, const Observer& observer, std::size_t variants)
      : on_result_(on_result), observer_(observer) {
    progress_.variants = variants;
  }

  void result(VariantResult&& result) {
    // The lock is held while the caller's code runs; isolated, so that this thread does not take up another task of the
    // graph meanwhile, which might come here again.
    const std::scoped_lock lock(mutex_);
    tbb::this_task_arena::isolate([&] {
      if (observer_.before_stage) observer_.before_stage(Stage::emit_results);
      const TraceScope scope(observer_.trace, Stage::emit_results, result.variant.eps, result.variant.minpts);
      on_result_(std::move(result));
      ++progress_.variants_done;
      report(true);
    });
  }

  void moved(double eps, double share) {
    if (!observer_.on_progress) return;
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock()) return;  // somebody reports already
    progress_.table_eps = eps;
    progress_.table_share = share;
    tbb::this_task_arena::isolate([&] { report(false); });
  }

 private:
  void report(bool always) {
    if (!observer_.on_progress) return;
    const Clock::time_point now = Clock::now();
    if (!always && now - reported_ < std::chrono::milliseconds(50)) return;
    reported_ = now;
    progress_.seconds = std::chrono::duration<double>(now - begin_).count();
    observer_.on_progress(progress_);
  }

  const std::function<void(VariantResult&&)>& on_result_;
  const Observer& observer_;
  std::mutex mutex_;
  const Clock::time_point begin_ = Clock::now();
  Clock::time_point reported_{};
  Progress progress_;
};

}  // namespace

void run_each(PointsView points, const Sweep& sweep, const Options& options,
              const std::function<void(VariantResult&&)>& on_result, const Observer& observer) {
  if (observer.cancel != nullptr) observer.cancel->check();
  if (sweep.size() == 0) return;
  Session session(points, options, observer);
  Reporter reporter(on_result, observer, sweep.size());
  std::vector<stages::EpsGroup> groups;
  {
    if (observer.before_stage) observer.before_stage(Stage::group_by_eps);
    const TraceScope scope(observer.trace, Stage::group_by_eps, 0, sweep.size());
    groups = stages::group_by_eps(sweep);
  }
  const stages::ClusterVariants cluster{options.method,   options.verify, session.threads(),
                                        session.budget(), session.stop(), observer.trace};
  session.run(
      std::move(groups),
      [&](const stages::TableJob& job) {
        if (observer.before_stage) observer.before_stage(Stage::cluster_variants);
        cluster(job, [&](VariantResult&& result) { reporter.result(std::move(result)); });
      },
      [&](double eps, double share) { reporter.moved(eps, share); });
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
