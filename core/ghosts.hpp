// Points that stand for others.
#pragma once

#include <cstdint>

#include <epsflow/core/host_device.hpp>

namespace epsflow {

/// Which points of an index are ghosts: those of the largest ids, or none. A ghost counts as a neighbour and gets no label, as it
/// stands for another point, its origin. Where a ghost is core its origin is core, too, and in the same cluster.
struct Ghosts {
  std::uint32_t labelled = 0;  ///< points that are no ghosts: their ids are below
  std::uint32_t count = 0;     ///< ghosts
  const std::uint32_t* origins =
      nullptr;  ///< [count] ids of the origins of labelled, labelled + 1, …; null where these are not here

  [[nodiscard]] EPSFLOW_HOST_DEVICE bool contains(std::uint32_t id) const noexcept { return id >= labelled; }
  /// Of a ghost its origin, if that is here; of any other point itself.
  [[nodiscard]] EPSFLOW_HOST_DEVICE std::uint32_t origin_of(std::uint32_t id) const noexcept {
    return contains(id) && origins != nullptr ? origins[id - labelled] : id;
  }
};

}  // namespace epsflow
