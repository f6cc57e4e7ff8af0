// Point sets are drawn as text here, because a drawing is easier to check by eye than coordinates.
#pragma once

#include <initializer_list>
#include <string_view>
#include <vector>

#include "support/random_points.hpp"

namespace epsflow::test {

/// Every character of the drawing except a space is a point at (column, row), one unit apart. Ids follow reading order.
struct Picture {
  DataSet data{.kind = "picture", .dims = 2};
  std::vector<char> marks;  ///< the character of each point

  Picture(std::initializer_list<std::string_view> lines) {
    double y = 0;
    for (const std::string_view line : lines) {
      for (std::size_t x = 0; x < line.size(); ++x) {
        if (line[x] == ' ') continue;
        data.doubles.insert(data.doubles.end(), {static_cast<double>(x), y});
        marks.push_back(line[x]);
      }
      ++y;
    }
  }
};

}  // namespace epsflow::test
