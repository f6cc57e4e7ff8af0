// Cuts of space into parts.
#pragma once

#include <cstdint>

namespace epsflow {

/// A cut of space, and its two sides: a side is a part, or is cut again. A list of cuts is a tree with the root first.
struct SpaceCut {
  std::uint32_t axis = 0;
  double at = 0;           ///< below it is one side, at and above it the other
  std::int32_t below = 0;  ///< index of a cut in the list, or −1 − the number of a part
  std::int32_t above = 0;  ///< in the same form
};

}  // namespace epsflow
