#include <epsflow/io/row_numbers.hpp>

#include <numeric>
#include <utility>

#include <epsflow/core/checked.hpp>
#include <epsflow/core/slice_rows.hpp>

namespace epsflow::io {

std::vector<std::int64_t> row_numbers(const PointsOrigin& origin, std::uint64_t n) {
  std::vector<std::int64_t> numbers;
  numbers.reserve(n);
  RowWalker walker(origin.inputs);
  std::uint64_t first = 0;  // number of the file's first row, counted through all files
  for (const InputRows& input : origin.inputs) {
    const std::uint64_t end = input.first + input.rows;
    for (std::uint64_t row = input.first; row < end; ++row) {
      if (walker.next() != RowWalker::kDropped) numbers.push_back(narrow<std::int64_t>(first + row, "row"));
    }
    first += end + input.after;
  }
  if (origin.inputs.empty()) {
    numbers.resize(n);
    std::iota(numbers.begin(), numbers.end(), std::int64_t{0});
  }
  return numbers;
}

void drop_points(FilePoints& points, const std::vector<bool>& is_out) {
  const std::vector<InputRows> before = points.inputs;
  RowWalker walker(before);
  for (InputRows& input : points.inputs) {
    input.dropped.clear();
    for (std::uint64_t row = input.first; row < input.first + input.rows; ++row) {
      const std::size_t point = walker.next();
      if (point == RowWalker::kDropped || is_out[point]) input.dropped.push_back(row);
    }
  }
  std::vector<std::uint32_t> kept;
  std::vector<double> weights;
  for (std::size_t i = 0; i < is_out.size(); ++i) {
    if (is_out[i]) continue;
    kept.push_back(static_cast<std::uint32_t>(i));
    if (!points.weights.empty()) weights.push_back(points.weights[i]);
  }
  static_cast<Points&>(points) = in_order(points, kept);
  points.weights = std::move(weights);
}

}  // namespace epsflow::io
