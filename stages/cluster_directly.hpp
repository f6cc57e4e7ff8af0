// Stage: clusters the variants of one eps without a table.
#pragma once

#include <functional>

#include <epsflow/core/choices.hpp>
#include <epsflow/core/labels.hpp>
#include <epsflow/core/memory.hpp>
#include <epsflow/core/trace.hpp>
#include <epsflow/stages/eps_job.hpp>

namespace epsflow::stages {

struct ClusterDirectly {
  MemoryBudget& budget;
  bool core_mask = false;
  bool verify = false;
  PointsView points = {};                  ///< for `verify`, which searches them itself
  MemorySpace labels = MemorySpace::host;  ///< where labels are kept
  Trace* trace = nullptr;
  Space space = {};                        ///< of the points
  const LoadedWeights* weights = nullptr;  ///< null if the points have none
  Keep keep = Keep::labels;
  bool clusters = false;  ///< fill VariantResult::clusters

  /// Returns the options of the clustering of a group.
  [[nodiscard]] DirectOptions options(const EpsGroup& group) const noexcept {
    return {.minpts = group.minpts,
            .core_mask = core_mask,
            .labels = labels,
            .keep = keep,
            .clusters = clusters,
            .weights = weights};
  }

  /// Calls begun() after all memory is allocated and counting is finished, as far as the device reports it. Then calls
  /// emit(result) once per variant, in descending order of minpts, from this thread, and returns true. Emitted variants
  /// are removed from the group. If the budget or the device has no room: returns false if `alone` is false, as other
  /// groups may free memory, and throws ResourceError otherwise. Throws Error if `verify` finds a wrong label.
  [[nodiscard]] bool operator()(EpsJob& job, bool alone, const std::function<void()>& begun,
                                const std::function<void(VariantResult&&)>& emit) const;
};

}  // namespace epsflow::stages
