// What is to be doubted of an exploration, told from the map, from the offers and from the coordinates.
#pragma once

#include <optional>
#include <vector>

#include <epsflow/core/points.hpp>
#include <epsflow/pipeline/explore.hpp>

namespace epsflow {

/// made: all but its doubts. chosen: the place of the recommended cell. By Doubt's order.
[[nodiscard]] std::vector<Doubt> doubts_of_map(const Exploration& made, const MapScores& scores,
                                               std::optional<GridPlace> chosen, std::size_t n);

/// Points from which on these are not few.
inline constexpr std::size_t kFewPoints = 100;

/// Where clusters are seen.
struct SeenAt {
  double eps = 0;    ///< of the recommended cell, or of the middle of the grid
  double least = 0;  ///< the smallest eps that shows the same
};

/// at: nothing where single coordinates mean nothing. O(n·d log n), in parallel.
[[nodiscard]] std::vector<Doubt> doubts_of_points(PointsView points, std::optional<SeenAt> at);

}  // namespace epsflow
