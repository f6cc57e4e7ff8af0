// The input row of each point.
#pragma once

#include <cstdint>
#include <vector>

#include <epsflow/io/file_points.hpp>

namespace epsflow::io {

/// Returns the input row of each point, [n]. Rows count from 0 through all files, dropped rows included. O(rows).
[[nodiscard]] std::vector<std::int64_t> row_numbers(const PointsOrigin& origin, std::uint64_t n);
[[nodiscard]] inline std::vector<std::int64_t> row_numbers(const FilePoints& points) {
  return row_numbers(points, points.size());
}

/// Removes points and their weights, as if the reader had dropped their rows. is_out: [n]. O(n·d).
void drop_points(FilePoints& points, const std::vector<bool>& is_out);

}  // namespace epsflow::io
