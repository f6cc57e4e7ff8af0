#include <epsflow/core/slice_rows.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>

namespace epsflow {

SliceRows slice_rows(std::span<const double> values, double width) {
  if (!(width >= 0) || std::isinf(width)) {
    throw UsageError("the width of slices is " + format_number(width) + ": give a number above 0, or none");
  }
  std::vector<double> keys(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) {
      throw InputError("row " + std::to_string(i) + " has " + format_number(values[i]) +
                       " where its slice should be: every point is in one; give it a value, or leave the row out");
    }
    keys[i] = width > 0 ? std::floor(values[i] / width) * width : values[i];
    if (width > 0 && (std::abs(values[i] / width) >= 0x1p53 || !std::isfinite(keys[i]))) {
      throw UsageError("slices of the width " + format_number(width) + " cannot be told apart at " +
                       format_number(values[i]) + ": give a larger width");
    }
    if (keys[i] == 0) keys[i] = 0;  // −0 is 0
  }
  SliceRows rows;
  if (!std::is_sorted(keys.begin(), keys.end())) {
    rows.order.resize(keys.size());
    std::iota(rows.order.begin(), rows.order.end(), 0U);
    std::stable_sort(rows.order.begin(), rows.order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return keys[a] < keys[b]; });
  }
  for (std::size_t place = 0; place < keys.size(); ++place) {
    const double key = keys[rows.row(place)];
    if (place > 0 && key == rows.keys.back()) continue;
    rows.keys.push_back(key);
    rows.offsets.push_back(place);
  }
  rows.offsets.push_back(keys.size());
  return rows;
}

Points in_order(PointsView points, std::span<const std::uint32_t> order) {
  Points made(points.size(), points.dims(), points.precision());
  points.visit([&](auto from) {
    using T = std::remove_const_t<typename decltype(from)::element_type>;
    const std::span<T> to = made.values<T>();
    const std::size_t dims = points.dims();
    for (std::size_t place = 0; place < order.size(); ++place) {
      std::copy_n(from.data() + order[place] * dims, dims, to.data() + place * dims);
    }
  });
  return made;
}

}  // namespace epsflow
