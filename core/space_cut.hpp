// Cuts of space into parts.
#pragma once

#include <cstdint>

namespace epsflow {

/// Where space is cut, and what is on both sides: another cut, or a part. A list of them is a tree, whose root comes first.
struct SpaceCut {
  std::uint32_t axis = 0;
  double at = 0;           ///< below it is one side, at and above it the other
  std::int32_t below = 0;  ///< a cut, or -1 - the part
  std::int32_t above = 0;
};

}  // namespace epsflow
