#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "io/io_test.hpp"

#include <epsflow/io/read_points.hpp>
#include <epsflow/io/row_numbers.hpp>

namespace epsflow::io::test {

/// Checks that 1 to 5 shares, and more shares than rows, together give the rows, weights and dropped rows of the file.
inline void check_shares(const std::filesystem::path& file, ReadOptions options = {}) {
  CAPTURE(file);
  const FilePoints whole = read_points(file, options);
  const std::uint64_t rows = whole.inputs.front().rows;
  for (const std::uint64_t count :
       {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{3}, std::uint64_t{4}, std::uint64_t{5}, rows + 2}) {
    std::vector<double> values;
    std::vector<double> weights;
    std::vector<std::uint64_t> dropped;
    std::vector<std::int64_t> numbers;
    for (std::uint64_t index = 0; index < count; ++index) {
      CAPTURE(index, count);
      options.share = {index, count};
      const FilePoints share = read_points(file, options);
      const InputRows& input = share.inputs.front();
      CHECK(input.first == rows * index / count);
      CHECK(input.first + input.rows == rows * (index + 1) / count);
      CHECK(input.kind == whole.inputs.front().kind);
      CHECK(share.dims() == whole.dims());
      CHECK(share.precision() == whole.precision());
      CHECK(share.column_names == whole.column_names);
      CHECK(share.column_numbers == whole.column_numbers);
      for (const double value : values_of(share)) values.push_back(value);
      for (const std::int64_t number : row_numbers(share)) numbers.push_back(number);
      weights.insert(weights.end(), share.weights.begin(), share.weights.end());
      dropped.insert(dropped.end(), input.dropped.begin(), input.dropped.end());
    }
    CHECK(values == values_of(whole));
    CHECK(weights == whole.weights);
    CHECK(dropped == whole.inputs.front().dropped);
    CHECK(numbers == row_numbers(whole));
  }
}

}  // namespace epsflow::io::test
