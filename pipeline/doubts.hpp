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

/// eps: of the recommended cell, or of the middle of the grid. O(n·d log n), in parallel.
[[nodiscard]] std::vector<Doubt> doubts_of_points(PointsView points, double eps);

}  // namespace epsflow
