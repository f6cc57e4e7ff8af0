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
  DirectOptions options = {};  ///< without minpts, which the group gives
  bool verify = false;
  PointsView points = {};  ///< needed only if `verify` is set, which searches without the index
  Space space = {};        ///< space of the points, needed only if `verify` is set
  Trace* trace = nullptr;  ///< may be null

  /// Returns the options of the clustering of a group.
  [[nodiscard]] DirectOptions of(const EpsGroup& group) const noexcept {
    DirectOptions of_group = options;
    of_group.minpts = group.minpts;
    return of_group;
  }

  /// Clusters with job.index, which must be set. Calls begun() after memory is reserved and neighbours are counted on
  /// the host, or their counting is started on a device. Then calls emit(result) once per variant, in descending order
  /// of minpts, from this thread, and returns true. Emitted variants are removed from the group.
  ///
  /// If memory is short, returns false, so that it can be called again with the rest of the group once other groups
  /// have freed memory. Some variants may have been emitted by then. If `alone` is true, or if `options.clusters` is
  /// set and a variant has been emitted, throws ResourceError instead. The clusters of an eps must come from one call.
  ///
  /// Throws the exceptions of emit(), Cancelled, and Error if `verify` finds a wrong label.
  [[nodiscard]] bool operator()(EpsJob& job, bool alone, const std::function<void()>& begun,
                                const std::function<void(VariantResult&&)>& emit) const;
};

}  // namespace epsflow::stages
