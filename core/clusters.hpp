// The clusters of one variant as objects: what is known of each without its labels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <epsflow/core/error.hpp>

namespace epsflow {

/// Entry k of each array is of cluster k. A cluster is known by its first core point, as by no other number: clusters of other
/// variants count from 0, too.
struct Clusters {
  std::vector<std::uint32_t> first_core;  ///< smallest id of its core points, ascending
  std::vector<std::uint32_t> core;        ///< its core points
  std::vector<std::uint32_t> size;        ///< its points: core and border

  // How these clusters lie in each other. Core points alone decide: a core point stays core at a smaller minpts and at a larger eps,
  // and what is connected stays connected. (A border point may change its cluster.)

  /// [clusters of the next larger minpts of this eps that the sweep has] the cluster here that holds each of them. Empty for the largest.
  std::vector<std::uint32_t> joined;
  /// For the smallest minpts of an eps: [n] where each point has become core, which is a place in the list of the clusters of all minpts
  /// of this eps, those of the largest minpts first; kNeverCore where it is core at none. Empty for other minpts.
  std::vector<std::uint32_t> births;

  static constexpr std::uint32_t kNeverCore = 0xFFFFFFFFU;

  [[nodiscard]] std::size_t count() const noexcept { return first_core.size(); }
};

/// Throws ResourceError where the minpts of one eps have more clusters together than births can tell.
inline void require_countable(std::uint64_t clusters) {
  if (clusters < Clusters::kNeverCore) return;
  throw ResourceError(
      "the minpts of one eps have more than 4 billion clusters together, which is more than can be tied to each other: "
      "give fewer or "
      "larger minpts");
}

}  // namespace epsflow
