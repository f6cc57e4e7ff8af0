#include <epsflow/core/slice_rows.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numeric>
#include <string>

#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>

namespace epsflow {

namespace {

/// Returns a multiple of the width as it is written in decimals: 3 · 0.1 is 0.3.
double multiple(double times, double width) {
  const double product = times * width;
  if (product == std::floor(product)) return product;
  constexpr int kDigits = 15;  // every decimal number of this many digits has a float64 of its own
  std::array<char, 32> text{};
  const auto written =
      std::to_chars(text.data(), text.data() + text.size(), product, std::chars_format::general, kDigits);
  double rounded = product;
  std::from_chars(text.data(), written.ptr, rounded);
  return rounded;
}

/// Returns the number of the last multiple of the width that is not above the value. The quotient is checked again only
/// if rounding may have moved it over a whole number: 0.3 / 0.1 is less than 3 in float64.
double stretch_of(double value, double width) {
  constexpr double kRounding = 0x1p-51;
  const double quotient = value / width;
  const double nearest = std::nearbyint(quotient);
  if (!(std::abs(quotient - nearest) <= kRounding * std::abs(nearest))) return std::floor(quotient);
  return multiple(nearest, width) <= value ? nearest : nearest - 1;
}

}  // namespace

SliceRows slice_rows(std::span<const double> values, double width) {
  if (!(width >= 0) || std::isinf(width)) {
    throw UsageError("the width of slices is " + format_number(width) + ": give a number above 0, or none");
  }
  std::vector<double> keys(values.size());  // with a width, whole multiples of it
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) {
      throw InputError("row " + std::to_string(i) + " has " + format_number(values[i]) +
                       " where its slice should be: every point is in one; give it a value, or leave the row out");
    }
    keys[i] = width > 0 ? stretch_of(values[i], width) : values[i];
    if (width > 0 && (std::abs(keys[i]) >= 0x1p53 || !std::isfinite(keys[i] * width))) {
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
  for (std::size_t position = 0; position < keys.size(); ++position) {
    const double key = keys[rows.row(position)];
    if (position > 0 && key == rows.keys.back()) continue;
    rows.keys.push_back(key);
    rows.offsets.push_back(position);
  }
  rows.offsets.push_back(keys.size());
  if (width > 0) {
    rows.stretches = rows.keys;
    for (double& key : rows.keys) key = multiple(key, width);
  }
  return rows;
}

Points in_order(PointsView points, std::span<const std::uint32_t> ids) {
  Points made(ids.size(), points.dims(), points.precision());
  points.visit([&](auto from) {
    const std::size_t dims = points.dims();
    auto to = made.values<std::remove_const_t<typename decltype(from)::element_type>>().begin();
    for (const std::uint32_t id : ids) to = std::ranges::copy(from.subspan(id * dims, dims), to).out;
  });
  return made;
}

}  // namespace epsflow
