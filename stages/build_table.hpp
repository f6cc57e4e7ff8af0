// Stage: the rows of a batch take their place in the table, or the batch is cut in two and goes again.
#pragma once

#include <cstdint>
#include <vector>

#include <epsflow/core/backend.hpp>
#include <epsflow/core/trace.hpp>
#include <epsflow/stages/table_job.hpp>

namespace epsflow::stages {

struct BuildTable {
  Trace* trace = nullptr;

  struct Outcome {
    std::vector<Batch> retry;  ///< halves of a batch that overflowed its lane
    bool out_of_memory = false;
  };

  /// Moves the lane's rows into job.table. Rows of a packed table are there already.
  [[nodiscard]] Outcome operator()(TableJob& job, const Batch& batch, const Lane& lane) const;
};

}  // namespace epsflow::stages
