// The core points of a cluster in a window.
#pragma once

#include <cstdint>

namespace epsflow::windows {

struct CoreSet {
  std::uint64_t first_core = 0;  ///< the smallest id of its core points
  std::uint64_t core = 0;        ///< their number
};

}  // namespace epsflow::windows
