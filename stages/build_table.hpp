// Stage: the rows of a batch take their place in the table, or the batch is cut in two and goes again.
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

  /// Takes the rows that were found into job.table. When the memory budget has no room for them: says so where `must_fit`
  /// is false, and throws ResourceError otherwise. Throws what the search failed with.
  [[nodiscard]] Outcome operator()(EpsJob& job, const Batch& batch, const BatchResult& result, bool must_fit) const;
};

}  // namespace epsflow::stages
