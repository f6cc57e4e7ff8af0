#include <epsflow/stages/build_index.hpp>

#include <algorithm>

namespace epsflow::stages {

std::uint64_t index_bytes(PointsView points) noexcept {
  constexpr std::uint64_t kIdsAndCells = 4 + 12;
  constexpr std::uint64_t kSortItems = 2 * 16;
  const std::uint64_t row = points.dims() * bytes_of(points.precision());
  return points.size() * (kIdsAndCells + std::max(kSortItems, row));
}

void BuildIndex::operator()(TableJob& job) const {
  job.index_memory = MemoryCharge(budget, index_bytes(points), "the index");
  job.search = backend.build_index(points, job.group.eps, cancel);
  // What the sort needed is free again.
  job.index_memory.shrink(job.search->bytes());
}

}  // namespace epsflow::stages
