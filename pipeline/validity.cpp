#include <epsflow/pipeline/validity.hpp>

#include <epsflow/core/error.hpp>
#include <epsflow/pipeline/workers.hpp>

namespace epsflow {

Validity validity(PointsView points, std::span<const std::int32_t> labels, const Metric& metric,
                  const ValidityOptions& options, const EngineOptions& engine, const Observer& observer) {
  if (metric != Metric{}) {
    throw UsageError("validity() is of Euclidean distances, and the metric is " + describe(metric) +
                     ": give points for which the Euclidean distance is the one that is meant");
  }
  Workers workers(engine, "validity()");
  const CancelToken cancel(observer.cancel);
  return workers.arena.execute([&] { return validity(points, labels, options, cancel); });
}

}  // namespace epsflow
