// How work is put on a lane, and told of when it is done.
#pragma once

#include <utility>

#include <epsflow/gpu/gpu_lane.hpp>

namespace epsflow::gpu {

/// Starts work on a lane. What goes wrong is told to `done`, once what has been queued is over. The work must not have
/// called `done`, nor emptied it, when it throws.
template <class F>
void start_on(GpuLane& lane, const TableSearch::Completion& done, F&& work) {
  FoundRows failed;
  try {
    work();
    return;
  } catch (const DeviceOutOfMemory&) {
    failed.error = std::current_exception();
    failed.out_of_memory = true;
  } catch (...) {
    failed.error = std::current_exception();
  }
  (void)cudaStreamSynchronize(lane.stream.get());
  done(failed);
}

/// Calls done(what the lane has found) when all its work so far is over.
inline void report_from(const GpuLane& lane, TableSearch::Completion done) {
  lane.stream.on_complete([&lane, done = std::move(done)](std::exception_ptr error) {
    FoundRows found = lane.found;
    found.error = std::move(error);
    done(std::move(found));
  });
}

}  // namespace epsflow::gpu
