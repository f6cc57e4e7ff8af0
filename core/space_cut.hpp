// Cuts of space into parts.
#pragma once

#include <cstdint>

namespace epsflow {

/// A cut of space, and the two sides of it: another cut, or a part. A list of cuts is a tree with the root first.
struct SpaceCut {
  std::uint32_t axis = 0;
  double at = 0;           ///< below it is one side, at and above it the other
  std::int32_t below = 0;  ///< a cut, or -1 - the part
  std::int32_t above = 0;
};

}  // namespace epsflow
