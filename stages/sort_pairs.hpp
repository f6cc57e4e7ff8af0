// Stage: pairs in any order become rows. Only for kernels that emit pairs (the paper's); others pass through.
#pragma once

#include <epsflow/core/backend.hpp>

namespace epsflow::stages {

struct SortPairs {
  Emit emit = Emit::rows;

  void operator()(Lane& lane) const {
    if (emit == Emit::pairs && !lane.overflow) lane.sort_pairs();
  }
};

}  // namespace epsflow::stages
