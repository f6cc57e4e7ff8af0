#include <epsflow/pipeline/tracks.hpp>

#include <epsflow/pipeline/workers.hpp>

namespace epsflow {

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

}  // namespace epsflow
