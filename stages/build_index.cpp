#include <epsflow/stages/build_index.hpp>

#include <epsflow/core/error.hpp>

namespace epsflow::stages {

bool BuildIndex::operator()(EpsJob& job, bool alone) const {
  try {
    IndexOptions of_group = options;
    of_group.eps = job.group.radius;
    job.index_memory = MemoryCharge(budget, points.index_bytes(of_group), "the index");
    job.index = points.build_index(of_group, cancel);
  } catch (const ResourceError&) {
    if (alone) throw;
    return false;
  }
  // The memory of the sort is free again.
  job.index_memory.shrink(job.index->bytes());
  return true;
}

}  // namespace epsflow::stages
