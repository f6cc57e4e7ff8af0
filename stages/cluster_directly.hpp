// Stage: the variants of one eps without a table.
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
  MemorySpace labels = MemorySpace::host;  ///< where they are kept
  Trace* trace = nullptr;
  Space space = {};                        ///< of the points
  const LoadedWeights* weights = nullptr;  ///< of the points, unless they have none
  Keep keep = Keep::labels;
  bool clusters = false;  ///< to be told as objects

  /// What the clustering of a group is made for.
  [[nodiscard]] DirectOptions options(const EpsGroup& group) const noexcept {
    return {.minpts = group.minpts,
            .core_mask = core_mask,
            .labels = labels,
            .keep = keep,
            .clusters = clusters,
            .weights = weights};
  }

  /// Calls begun() when all memory is there and neighbours are counted, as far as the device says, then emit(result) once per variant, in descending order of minpts, from
  /// this thread, and returns true. Variants that were handed over are taken out of the group. When the budget or the
  /// device has no room: returns false where `alone` is false, as other groups may give memory back, and throws
  /// ResourceError otherwise. Throws Error when `verify` finds a wrong label.
  [[nodiscard]] bool operator()(EpsJob& job, bool alone, const std::function<void()>& begun,
                                const std::function<void(VariantResult&&)>& emit) const;
};

}  // namespace epsflow::stages
