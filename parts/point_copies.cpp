#include <epsflow/parts/point_copies.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <epsflow/parts/held_engines.hpp>
#include <epsflow/parts/thread_ranks.hpp>

namespace epsflow::parts {
namespace {

/// Fewer bytes take about as long as the GPUs wait for each other.
constexpr std::uint64_t kFewestBytes = 16 << 20;
/// A GPU has at least this many times the memory of the points: it holds them and a share at once.
constexpr std::uint64_t kMemoryOfPoints = 4;

}  // namespace

std::vector<PointsCopy> copy_to_gpus(PointsView points, std::span<const Engine> engines, CancelToken& stop) {
  const std::size_t devices = engines.size();
  const bool all_fit = std::all_of(engines.begin(), engines.end(), [&](const Engine& engine) {
    return EngineLock::device_memory(engine) / kMemoryOfPoints >= points.bytes();
  });
  if (devices < 2 || points.bytes() < kFewestBytes || !all_fit) return {};
  const HeldEngines held(engines, stop);
  std::vector<std::unique_ptr<DevicePart>> shares(devices);
  run_together(devices, stop, [&](std::size_t d) {
    const std::size_t first = points.size() * d / devices, last = points.size() * (d + 1) / devices;
    shares[d] = held.backend(engines[d]).hold(points.rows(first, last), devices);
  });
  std::vector<PointsCopy> copies(devices);
  std::atomic<bool> reached{true};
  run_together(devices, stop, [&](std::size_t d) {
    if (auto copy = shares[d]->copy_all(shares)) {
      copies[d] = std::move(*copy);
    } else {
      reached = false;
    }
  });
  if (!reached) copies.clear();
  return copies;
}

}  // namespace epsflow::parts
