#include <epsflow/io/row_numbers.hpp>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include <epsflow/core/checked.hpp>

namespace epsflow::io {

std::vector<std::int64_t> row_numbers(const PointsOrigin& origin, std::uint64_t n) {
  std::vector<std::int64_t> numbers;
  numbers.reserve(n);
  std::uint64_t first = 0;  // number of the file's first row, counted through all files
  for (const InputRows& input : origin.inputs) {
    std::uint64_t row = input.first;
    const auto take_until = [&](std::uint64_t end) {
      for (; row < end; ++row) numbers.push_back(narrow<std::int64_t>(first + row, "row"));
    };
    for (const std::uint64_t dropped : input.dropped) {
      take_until(dropped);
      ++row;
    }
    take_until(input.first + input.rows);
    first += input.first + input.rows;
  }
  if (origin.inputs.empty()) {
    numbers.resize(n);
    std::iota(numbers.begin(), numbers.end(), std::int64_t{0});
  }
  return numbers;
}

void drop_points(FilePoints& points, const std::vector<bool>& is_out) {
  std::size_t point = 0;
  for (InputRows& input : points.inputs) {
    std::vector<std::uint64_t> dropped;
    auto before = input.dropped.begin();
    for (std::uint64_t row = input.first; row < input.first + input.rows; ++row) {
      const bool was_out = before != input.dropped.end() && *before == row;
      if (was_out) ++before;
      if (was_out || is_out[point++]) dropped.push_back(row);
    }
    input.dropped = std::move(dropped);
  }
  const auto keep = [&]<class T>(std::span<const T> from, std::span<T> to, std::size_t width) {
    auto next = to.begin();
    for (std::size_t i = 0; i < is_out.size(); ++i) {
      if (!is_out[i]) next = std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(i * width), width, next);
    }
  };
  const auto left = static_cast<std::uint64_t>(std::count(is_out.begin(), is_out.end(), false));
  Points kept(left, points.dims(), points.precision());
  if (points.precision() == Precision::float32) {
    keep(std::span<const float>(points.values<float>()), kept.values<float>(), points.dims());
  } else {
    keep(std::span<const double>(points.values<double>()), kept.values<double>(), points.dims());
  }
  if (!points.weights.empty()) {
    std::vector<double> weights(left);
    keep(std::span<const double>(points.weights), std::span<double>(weights), 1);
    points.weights = std::move(weights);
  }
  static_cast<Points&>(points) = std::move(kept);
}

}  // namespace epsflow::io
