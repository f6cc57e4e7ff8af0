// Stage: the index of one eps.
#pragma once

#include <epsflow/core/backend.hpp>
#include <epsflow/core/cancel.hpp>
#include <epsflow/core/memory.hpp>
#include <epsflow/stages/table_job.hpp>

namespace epsflow::stages {

/// Bytes that building the index of `points` takes at its peak, at most: sort items twice over, or the copy of the
/// coordinates; ids, and the cells where every point has its own.
[[nodiscard]] std::uint64_t index_bytes(PointsView points) noexcept;

struct BuildIndex {
  Backend& backend;
  PointsView points;
  MemoryBudget& budget;
  const CancelToken& cancel;

  /// Sets job.search and returns true. When the budget has no room for the index: returns false where `alone` is false,
  /// as other tables may give memory back, and throws ResourceError otherwise.
  [[nodiscard]] bool operator()(TableJob& job, bool alone) const;
};

}  // namespace epsflow::stages
