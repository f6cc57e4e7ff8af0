// How far ghosts of a part reach.
#pragma once

#include <epsflow/index/distance.hpp>

namespace epsflow::parts {

/// Of a search by this radius.
struct PartReach {
  explicit PartReach(double radius) : near(index::neighbor_reach(radius) * kSlack), beyond(2 * near) {}

  double near;    ///< all neighbours of own points
  double beyond;  ///< all neighbours of these

 private:
  /// More than what rounds in distances of points from cuts.
  static constexpr double kSlack = 1 + 0x1p-10;
};

}  // namespace epsflow::parts
