#include <epsflow/stages/build_index.hpp>

#include <epsflow/core/error.hpp>

namespace epsflow::stages {

bool BuildIndex::operator()(TableJob& job, bool alone) const {
  try {
    job.index_memory = MemoryCharge(budget, backend.index_bytes(points), "the index");
    job.search = backend.build_index(points, job.group.eps, cancel);
  } catch (const ResourceError&) {
    if (alone) throw;
    return false;
  }
  // What the sort needed is free again.
  job.index_memory.shrink(job.search->bytes());
  return true;
}

}  // namespace epsflow::stages
