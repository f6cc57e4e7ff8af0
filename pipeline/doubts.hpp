// Finds doubts of an exploration in the map, the offers and the coordinates.
#pragma once

#include <optional>
#include <vector>

#include <epsflow/core/points.hpp>
#include <epsflow/pipeline/explore.hpp>

namespace epsflow {

/// Returns doubts in the order of Doubt. made: the exploration, complete except for doubts. chosen: recommended place.
[[nodiscard]] std::vector<Doubt> doubts_of_map(const Exploration& made, const MapScores& scores,
                                               std::optional<GridPlace> chosen, std::size_t n);

/// Fewer points than this are few.
inline constexpr std::size_t kFewPoints = 100;

/// The eps at which clusters are visible.
struct SeenAt {
  double eps = 0;    ///< eps of the recommended cell, or of the middle of the grid
  double least = 0;  ///< the smallest eps that shows the same clusters
};

/// Returns the doubts that the coordinates raise. at: empty if coordinates have no meaning. O(n·d log n), parallel.
[[nodiscard]] std::vector<Doubt> doubts_of_points(PointsView points, std::optional<SeenAt> at);

}  // namespace epsflow
