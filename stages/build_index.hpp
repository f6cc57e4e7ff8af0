// Stage: the index of one eps.
#pragma once

#include <epsflow/core/backend.hpp>
#include <epsflow/core/cancel.hpp>
#include <epsflow/core/memory.hpp>
#include <epsflow/stages/eps_job.hpp>

namespace epsflow::stages {

struct BuildIndex {
  const LoadedPoints& points;
  MemoryBudget& budget;
  const CancelToken& cancel;
  IndexOptions options;  ///< without eps, which the job gives

  /// Sets job.index and returns true. If the budget or the device cannot hold the index: returns false if `alone`
  /// is false, as other groups may free memory, and throws ResourceError otherwise.
  [[nodiscard]] bool operator()(EpsJob& job, bool alone) const;
};

}  // namespace epsflow::stages
