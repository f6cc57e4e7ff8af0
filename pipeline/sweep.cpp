#include <epsflow/pipeline/sweep.hpp>

#include <utility>

#include <epsflow/clustering/verify.hpp>
#include <epsflow/pipeline/host_bytes.hpp>
#include <epsflow/pipeline/in_order.hpp>
#include <epsflow/pipeline/reporter.hpp>
#include <epsflow/pipeline/run_dataset.hpp>
#include <epsflow/pipeline/session.hpp>
#include <epsflow/pipeline/slices.hpp>
#include <epsflow/stages/group_by_eps.hpp>

namespace epsflow {
namespace {

/// Returns true if the clusters suffice for the counts of slices, so that no labels are needed.
bool counted_by_clusters(const Dataset& data, const RunOptions& options) {
  return options.keep == Keep::summary && options.method == VariantMethod::nested && !options.verify &&
         !options.core_mask && !Session::negative_weights(data);
}

/// Returns a budget that suffices without a table for any eps up to this radius and this many minpts: the memory beside
/// the run, an index while it is built, and clustering.
std::uint64_t enough_memory(Session& session, double radius, std::size_t levels, const RunOptions& options) {
  const LoadedPoints& points = session.points();
  IndexOptions index = index_options(session.context(), Cells::eps);
  index.eps = radius;
  const std::uint64_t verifying = options.verify ? clustering::kVerifyBytesPerPoint : 0;
  return session.budget().used() + points.index_bytes(index) +
         points.size() * (host_bytes(levels, session.weights() != nullptr) + verifying);
}

}  // namespace

void run_dataset(const Dataset& data, const Sweep& sweep, const OnResult& on_result, const RunOptions& options,
                 const Observer& observer, const MoreGroups& shared) {
  if (observer.cancel != nullptr) observer.cancel->check();
  if (sweep.size() == 0) return;
  const bool sliced = data.slices() > 0;
  const bool by_clusters = sliced && counted_by_clusters(data, options);
  RunOptions made = options;
  if (by_clusters) {
    made.clusters = true;
  } else if (sliced) {  // counted from labels and mask, whether these are kept or not
    check_options(options);
    if (options.labels == MemorySpace::device) {
      throw UsageError("RunOptions::labels asks for labels on a GPU, and those of slices are numbered on the host");
    }
    made.keep = Keep::labels;
    made.core_mask = true;
  }
  Session session(data, made, observer);
  // The variants are stored here and in the groups by eps.
  const MemoryCharge memory(session.budget(), sweep.size() * (sizeof(Variant) + sizeof(stages::EpsGroup)),
                            "the list of the variants of the sweep");
  Reporter reporter(observer, sweep.size());
  std::vector<stages::EpsGroup> groups;
  {
    if (observer.before_stage) observer.before_stage(Stage::group_by_eps);
    const TraceScope scope(observer.trace, Stage::group_by_eps, 0, {"variants", sweep.size()});
    groups = session.groups(sweep);
  }
  const double radius = groups.front().radius;  // groups are by descending eps
  const std::size_t levels = stages::most_levels(groups);
  if (shared) groups.clear();
  const auto emit = [&](VariantResult&& result) {
    if (by_clusters) {
      count_slices(result, *session.points().space().slices);
      if (!options.clusters) result.clusters = {};
    } else if (sliced) {
      resolve_slices(result, *session.points().space().slices);
      if (!keeps_labels(options.keep)) result.labels = {};
      if (!options.core_mask) result.core = {};
    }
    reporter.done([&] {
      if (observer.before_stage) observer.before_stage(Stage::emit_results);
      const TraceScope scope(observer.trace, Stage::emit_results, result.variant.eps,
                             {"minpts", result.variant.minpts});
      on_result(std::move(result));
    });
  };
  try {
    session.run(std::move(groups),
                {.result = emit, .progress = [&](double eps, double share) { reporter.progress(eps, share); }}, shared);
  } catch (const ResourceError& error) {
    if (error.needed_memory() == 0) throw;
    throw error.with(enough_memory(session, radius, levels, options));
  }
}

std::vector<VariantResult> run(const PointSet& points, const Sweep& sweep, const EngineOptions& engine,
                               const RunOptions& options, const Observer& observer) {
  if (observer.cancel != nullptr) observer.cancel->check();
  if (sweep.size() == 0) return {};
  const LoadedSet loaded(points, engine, options, observer);
  return run(loaded.data(), sweep, options, observer);
}

std::vector<VariantResult> run(const Dataset& data, const Sweep& sweep, const RunOptions& options,
                               const Observer& observer) {
  return in_order(sweep, [&](auto&& on_result) { run_dataset(data, sweep, on_result, options, observer); });
}

}  // namespace epsflow
