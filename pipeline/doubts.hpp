// Finds doubts of an exploration in the map, the offers and the coordinates.
#pragma once

#include <optional>
#include <vector>

#include <epsflow/core/points.hpp>
#include <epsflow/pipeline/explore.hpp>

namespace epsflow {

/// Returns the doubts that the map and the offers raise, in the order of Doubt. made: the exploration, complete except
/// for its doubts. chosen: the recommended cell, if there is one. n: the number of points.
[[nodiscard]] std::vector<Doubt> doubts_of_map(const Exploration& made, const MapScores& scores,
                                               std::optional<MapIndex> chosen, std::size_t n);

/// With a larger share of noise, Doubt::much_noise is raised.
inline constexpr double kMuchNoise = 0.1;

/// With fewer points than this, Doubt::few_points is raised.
inline constexpr std::size_t kFewPoints = 100;

/// The eps at which clusters are visible.
struct SeenAt {
  double eps = 0;    ///< eps of the recommended cell, or of the middle of the grid
  double least = 0;  ///< the smallest eps that shows the same clusters
};

/// Returns the doubts that the coordinates raise: duplicates, quantised, one_axis_rules. at: if empty, only duplicates
/// are found. It is empty without a grid, and for directions and positions on a sphere, whose coordinates have neither
/// a lattice nor a scale. O(n·d log n), in parallel.
[[nodiscard]] std::vector<Doubt> doubts_of_points(PointsView points, std::optional<SeenAt> at);

}  // namespace epsflow
