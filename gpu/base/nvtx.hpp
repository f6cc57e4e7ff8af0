// Shows stages as ranges in Nsight Systems.
#pragma once

#include <nvtx3/nvToolsExt.h>

#include <epsflow/core/trace.hpp>

namespace epsflow::gpu {

/// Marks the work of this thread, until the end of the scope, with the name of a stage.
class StageRange {
 public:
  explicit StageRange(Stage stage) { nvtxRangePushA(stage_name(stage).data()); }  // the names are literals
  ~StageRange() { nvtxRangePop(); }
  StageRange(const StageRange&) = delete;
  StageRange& operator=(const StageRange&) = delete;
};

}  // namespace epsflow::gpu
