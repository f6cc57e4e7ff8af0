#include <epsflow/stages/build_index.hpp>

#include <epsflow/core/error.hpp>

namespace epsflow::stages {

bool BuildIndex::operator()(EpsJob& job, bool alone) const {
  try {
    job.index_memory = MemoryCharge(budget, points.index_bytes(), "the index");
    job.index = points.build_index(job.group.radius, cells, cancel);
  } catch (const ResourceError&) {
    if (alone) throw;
    return false;
  }
  // What the sort needed is free again.
  job.index_memory.shrink(job.index->bytes());
  return true;
}

}  // namespace epsflow::stages
