// Points that are brought row by row, from where they are in memory.
#pragma once

#include <cstddef>
#include <cstring>

#include <epsflow/core/points.hpp>
#include <epsflow/core/points_source.hpp>

namespace epsflow::test {

/// points must outlive it.
inline PointsSource source_of(PointsView points) {
  return {points.size(), points.dims(), points.precision(), [points](std::size_t first, std::size_t last, void* to) {
            const PointsView some = points.rows(first, last);
            std::memcpy(to, some.data(), some.bytes());
          }};
}

}  // namespace epsflow::test
