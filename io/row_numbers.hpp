// The input row of each point.
#pragma once

#include <cstdint>
#include <vector>

#include <epsflow/io/file_points.hpp>

namespace epsflow::io {

/// [n] The input row of each point. Rows count from 0, through the files in order, dropped ones included. O(rows).
[[nodiscard]] std::vector<std::int64_t> row_numbers(const PointsOrigin& origin, std::uint64_t n);
[[nodiscard]] inline std::vector<std::int64_t> row_numbers(const FilePoints& points) {
  return row_numbers(points, points.size());
}

/// Takes points out, with their weights, as if the reader had dropped their rows. is_out: [n]. O(n·d).
void drop_points(FilePoints& points, const std::vector<bool>& is_out);

}  // namespace epsflow::io
