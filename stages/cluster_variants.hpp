// Stage: clusters every variant of a finished table.
#pragma once

#include <cstdint>
#include <functional>

#include <epsflow/core/cancel.hpp>
#include <epsflow/core/choices.hpp>
#include <epsflow/core/labels.hpp>
#include <epsflow/core/trace.hpp>
#include <epsflow/core/weights.hpp>
#include <epsflow/stages/eps_job.hpp>

namespace epsflow::stages {

/// Throws Error if the labels of a result are wrong, which is a defect of epsflow. Searches the points again, without
/// the index of the run (clustering/verify.hpp). radius: eps among the transformed points. weights: null if the points
/// have none.
void check_labels(PointsView points, const Space& space, const WholeWeights* weights, double radius,
                  const VariantResult& result);

struct ClusterVariants {
  VariantMethod method = VariantMethod::nested;
  bool verify = false;
  bool core_mask = false;
  Keep keep = Keep::labels;
  bool clusters = false;                  ///< fill VariantResult::clusters
  PointsView points = {};                 ///< needed only if `verify` is set, which searches without the index
  Space space = {};                       ///< of the points
  const WholeWeights* weights = nullptr;  ///< null if the points have none
  unsigned workers = 1;                   ///< the largest number of concurrent variants, with VariantMethod::each
  const CancelToken& cancel;
  Trace* trace = nullptr;

  /// Returns the most bytes of scratch and labels at a time for a group of this number of variants over n points.
  [[nodiscard]] std::uint64_t bytes(std::uint64_t n, std::size_t variants) const noexcept;

  /// Calls emit(result) once per variant. With VariantMethod::nested: from this thread, in descending order of minpts.
  /// With VariantMethod::each: from any thread, possibly from several at once. Throws Error if `verify` finds a wrong
  /// label, which is a defect of epsflow; Cancelled; the exceptions of emit.
  void operator()(const EpsJob& job, const std::function<void(VariantResult&&)>& emit) const;
};

}  // namespace epsflow::stages
