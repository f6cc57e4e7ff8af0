#include <epsflow/stages/build_index.hpp>

#include <algorithm>

#include <epsflow/core/error.hpp>

namespace epsflow::stages {

std::uint64_t index_bytes(PointsView points) noexcept {
  constexpr std::uint64_t kIdsAndCells = 4 + 12;
  constexpr std::uint64_t kSortItems = 2 * 16;
  const std::uint64_t row = points.dims() * bytes_of(points.precision());
  return points.size() * (kIdsAndCells + std::max(kSortItems, row));
}

bool BuildIndex::operator()(TableJob& job, bool alone) const {
  try {
    job.index_memory = MemoryCharge(budget, index_bytes(points), "the index");
  } catch (const ResourceError&) {
    if (alone) throw;
    return false;
  }
  job.search = backend.build_index(points, job.group.eps, cancel);
  // What the sort needed is free again.
  job.index_memory.shrink(job.search->bytes());
  return true;
}

}  // namespace epsflow::stages
