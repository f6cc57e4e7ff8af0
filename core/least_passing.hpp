// Searches the smallest number that passes a test.
#pragma once

#include <cstdint>

#include <epsflow/core/host_device.hpp>

namespace epsflow {

/// Returns the smallest number for which passes(number) is true. It is true for some number, and from there on for all.
/// estimate: a number near the result. O(log of the distance).
template <class Passes>
[[nodiscard]] EPSFLOW_HOST_DEVICE std::uint64_t least_passing(std::uint64_t estimate, Passes passes) {
  std::uint64_t least = estimate;
  for (std::uint64_t step = 1; !passes(least); step *= 2) least += step;
  std::uint64_t below = least;  // does not pass in the end, or is 0
  for (std::uint64_t step = 1; below > 0 && passes(below); step *= 2) {
    least = below;
    below -= below < step ? below : step;
  }
  while (least - below > 1) {
    const std::uint64_t middle = below + (least - below) / 2;
    (passes(middle) ? least : below) = middle;
  }
  return least;
}

}  // namespace epsflow
