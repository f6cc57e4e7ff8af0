// The clusters of a step, as they are read from cells.
#pragma once

#include <cstdint>
#include <vector>

#include <epsflow/clustering/cluster_matching.hpp>
#include <epsflow/core/labels.hpp>

namespace epsflow::windows {

struct CoreSet {
  std::uint64_t first_core = 0;  ///< the smallest id of its core points
  std::uint64_t core = 0;        ///< the number of its core points
  std::uint64_t borders = 0;     ///< the number of its border points
};

struct ClustersRead {
  std::vector<CoreSet> clusters;   ///< cluster k has the label k
  std::vector<SharedCore> shared;  ///< the core points that clusters before and after the step share, sorted
};

}  // namespace epsflow::windows
