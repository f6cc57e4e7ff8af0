// Tracks with the threads and the memory of options.
#pragma once

#include <vector>

#include <epsflow/pipeline/options.hpp>
#include <epsflow/tracks/track_table.hpp>
#include <epsflow/tracks/tracks.hpp>

namespace epsflow {

/// Tracks and their table.
struct TrackedSlices {
  Tracks tracks;
  std::vector<TrackRow> rows;
};

/// find_tracks() and track_rows() with the threads of the engine options and the observer's cancellation. Works on the CPU. Throws as these
/// do, UsageError for options of a GPU, and ResourceError for too little memory.
[[nodiscard]] TrackedSlices track(const SlicedLabels& slices, const TrackOptions& options,
                                  const EngineOptions& engine = {}, const Observer& observer = {});

}  // namespace epsflow
