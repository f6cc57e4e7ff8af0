// Makes a source that copies points row by row from memory.
#pragma once

#include <cstddef>
#include <cstring>

#include <epsflow/core/points.hpp>
#include <epsflow/core/points_source.hpp>

namespace epsflow::test {

/// The points must outlive the source.
inline PointsSource source_of(PointsView points) {
  return {points.size(), points.dims(), points.precision(), [points](std::size_t first, std::size_t last, void* to) {
            const PointsView some = points.rows(first, last);
            std::memcpy(to, some.data(), some.bytes());
          }};
}

}  // namespace epsflow::test
