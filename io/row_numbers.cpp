#include <epsflow/io/row_numbers.hpp>

#include <numeric>

#include <epsflow/core/checked.hpp>

namespace epsflow::io {

std::vector<std::int64_t> row_numbers(const PointsOrigin& origin, std::uint64_t n) {
  std::vector<std::int64_t> numbers;
  numbers.reserve(n);
  std::uint64_t first = 0;  // of the file, in the count through all
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

}  // namespace epsflow::io
