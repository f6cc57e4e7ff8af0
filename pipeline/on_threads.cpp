#include <epsflow/pipeline/on_threads.hpp>

#include <epsflow/core/error.hpp>
#include <epsflow/pipeline/workers.hpp>

namespace epsflow {

std::vector<std::int32_t> attach(const AttachInput& input, const EngineOptions& engine, const Observer& observer) {
  Workers workers(engine, "attach()");
  const CancelToken cancel(observer.cancel);
  const std::uint64_t n = input.others.size() == 0 ? 0 : std::uint64_t{input.linked.size()} + input.others.size();
  // Memory of the transformed coordinates, and of a copy in the order of the grid.
  const std::uint64_t numbers = 2 * std::uint64_t{transformed_dims(input.metric, input.linked.dims())} + 2;
  const MemoryCharge memory(workers.budget, n * numbers * sizeof(double), "the index of linked and other points");
  return workers.arena.execute([&] { return attach(input, cancel); });
}

Contingency compare(std::span<const std::int32_t> a, std::span<const std::int32_t> b, const EngineOptions& engine) {
  return Workers(engine, "compare()").arena.execute([&] { return Contingency(a, b); });
}

TrackedSlices track(const SlicedLabels& slices, const TrackOptions& options, const EngineOptions& engine,
                    const Observer& observer) {
  Workers workers(engine, "track()");
  const CancelToken cancel(observer.cancel);
  const std::uint64_t n = slices.labels.size();
  const MemoryCharge memory(workers.budget,
                            slices.points.bytes() + n * (sizeof(std::int32_t) + 2 * sizeof(std::uint32_t)),
                            "the slices and their clusters");
  return workers.arena.execute([&] {
    TrackedSlices found;
    found.tracks = find_tracks(slices, options, cancel);
    found.rows = track_rows(slices, found.tracks, cancel);
    return found;
  });
}

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
