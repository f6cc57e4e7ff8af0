// The points of a sweep whose eps several GPUs share, in the memory of each GPU.
#pragma once

#include <span>
#include <vector>

#include <epsflow/core/cancel.hpp>
#include <epsflow/core/device_part.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/pipeline/engine.hpp>

namespace epsflow::parts {

/// Copies points to the memory of every engine's GPU. Each GPU takes a share of the rows from the host, and then the
/// shares of the others from their memory: the memory of the host is read once instead of once for each GPU. Four H200
/// take 10 ms for 120 MB each from the host (benchmarks/results/gpus.md).
///
/// Returns a copy for each engine. Returns an empty vector in four cases: there is a single engine, the data have less
/// than 16 MiB, they take more than a quarter of the memory of one of the GPUs, or one GPU cannot read another's
/// memory. Waits for the turns of the engines, and gives these back before it returns. stop: is cancelled if a GPU
/// fails. Throws ResourceError, Cancelled.
[[nodiscard]] std::vector<PointsCopy> copy_to_gpus(PointsView points, std::span<const Engine> engines,
                                                   CancelToken& stop);

}  // namespace epsflow::parts
