// Reads damaged copies of files. A reader must throw an error, or return points that look correct.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "io/io_test.hpp"
#include "support/damage.hpp"

namespace epsflow::io::test {

struct DamageSample {
  std::string name;  ///< of the damaged file
  std::string bytes;
  ReadOptions options = {};
  bool says_its_size = true;  ///< false for raw files: any number of whole rows is valid
};

/// Returns a function that reads damaged bytes through a file with the sample's name.
inline auto reader_of(const DamageSample& sample, const TempFolder& folder) {
  return [&sample, &folder](const std::string& bytes) {
    return read_points(folder.write(sample.name, bytes), sample.options);
  };
}

/// Checks that files that lose their end are refused, or give all points.
inline void check_truncated(const std::vector<DamageSample>& samples) {
  const TempFolder folder;
  for (const DamageSample& sample : samples) {
    CAPTURE(sample.name);
    const auto read = reader_of(sample, folder);
    const Values all = values_of(read(sample.bytes));
    REQUIRE(all.size() >= 100);
    const auto is_right = [&](const FilePoints& points, const std::string& cut) {
      const Values values = values_of(points);
      if (sample.says_its_size) return values == all;
      return values.size() * sizeof(double) == cut.size() && std::equal(values.begin(), values.end(), all.begin());
    };
    epsflow::test::truncate_everywhere(sample.bytes, read, is_right);
  }
}

/// Checks that files of which a bit in `per` is flipped are refused, or keep their number of rows.
inline void check_flipped(const std::vector<DamageSample>& samples, std::size_t per, std::uint64_t seeds) {
  const TempFolder folder;
  for (const DamageSample& sample : samples) {
    CAPTURE(sample.name);
    const auto read = reader_of(sample, folder);
    const std::uint64_t rows = read(sample.bytes).inputs[0].rows;
    const auto keeps_rows = [&](const FilePoints& points, const std::string&) {
      return points.inputs[0].rows == rows && points.size() + points.dropped_rows() == rows;
    };
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      epsflow::test::flip_bits(sample.bytes, read, keeps_rows, per, seed);
    }
  }
}

}  // namespace epsflow::io::test
