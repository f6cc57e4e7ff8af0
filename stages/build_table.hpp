// Stage: enters the rows of a batch in the table, or splits the batch in two for another search.
#pragma once

#include <cstdint>
#include <vector>

#include <epsflow/core/memory.hpp>
#include <epsflow/core/table_search.hpp>
#include <epsflow/core/trace.hpp>
#include <epsflow/stages/eps_job.hpp>

namespace epsflow::stages {

struct BuildTable {
  const ArenaPool& pool;
  Trace* trace = nullptr;

  struct Outcome {
    std::vector<Batch> retry;  ///< halves of a batch that was too large
    bool table_full = false;
  };

  /// Enters the found rows in job.table. result: not UnsortedPairs, which must be sorted before. If the memory budget
  /// cannot hold them: sets Outcome::table_full if `exclusive` is false, and throws ResourceError otherwise.
  /// Rethrows the error of a failed search.
  [[nodiscard]] Outcome operator()(EpsJob& job, const Batch& batch, const BatchResult& result, bool exclusive) const;
};

}  // namespace epsflow::stages
