// How far the ghosts of a part reach.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include <epsflow/index/distance.hpp>
#include <epsflow/stages/group_by_eps.hpp>

namespace epsflow::parts {

/// The distances of ghosts for one search radius.
struct PartReach {
  explicit PartReach(double radius) : inner(index::neighbor_reach(radius) * kSlack), outer(2 * inner) {}

  double inner;  ///< distance of inner ghosts along any axis, at most: all neighbours of owned points are within it
  double outer;  ///< distance of outer ghosts along any axis, at most: all neighbours of inner ghosts are within it

 private:
  /// Exceeds the rounding of distances between points and cuts.
  static constexpr double kSlack = 1 + 0x1p-10;
};

/// Returns the distances of all searches of a sweep, ascending and without repetition.
[[nodiscard]] inline std::vector<double> reaches_of(std::span<const stages::EpsGroup> groups) {
  std::vector<double> reaches;
  for (const stages::EpsGroup& group : groups) {
    const PartReach reach(group.radius);
    reaches.insert(reaches.end(), {reach.inner, reach.outer});
  }
  std::sort(reaches.begin(), reaches.end());
  reaches.erase(std::unique(reaches.begin(), reaches.end()), reaches.end());
  return reaches;
}

}  // namespace epsflow::parts
