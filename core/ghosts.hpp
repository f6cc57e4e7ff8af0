// Ghosts: points that stand for others.
#pragma once

#include <cstdint>

#include <epsflow/core/host_device.hpp>

namespace epsflow {

/// The ghosts of an index: its points with the largest ids, or none. A ghost stands for another point, its origin. It
/// counts as a neighbour and gets no label. If a ghost is core, its origin is core too, and in the same cluster.
struct Ghosts {
  std::uint32_t labelled = 0;  ///< number of points that are not ghosts: their ids are below
  std::uint32_t count = 0;     ///< number of ghosts
  /// [count] Element i is the id of the origin of the ghost with the id labelled + i. Null if there are no
  /// ghosts, or if their origins are in other parts.
  const std::uint32_t* origins = nullptr;

  [[nodiscard]] EPSFLOW_HOST_DEVICE bool contains(std::uint32_t id) const noexcept { return id >= labelled; }
  /// Returns the origin of a ghost, if it is here; of any other point itself.
  [[nodiscard]] EPSFLOW_HOST_DEVICE std::uint32_t origin_of(std::uint32_t id) const noexcept {
    return contains(id) && origins != nullptr ? origins[id - labelled] : id;
  }
};

}  // namespace epsflow
