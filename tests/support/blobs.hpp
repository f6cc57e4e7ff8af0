#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "support/random_points.hpp"

namespace epsflow::test {

struct Blob {
  std::vector<double> centre;
  double deviation = 1;
  std::size_t points = 100;
};

/// Returns approximately normal blobs around the centres, one after the other.
inline DataSet make_blobs(const std::vector<Blob>& blobs, std::uint64_t seed) {
  Random random(seed);
  DataSet data{.kind = "blobs", .dims = blobs.front().centre.size()};
  for (const Blob& blob : blobs) {
    for (std::size_t i = 0; i < blob.points; ++i) {
      for (const double x : blob.centre) data.doubles.push_back(x + blob.deviation * random.bell());
    }
  }
  return data;
}

/// Appends points that are spread evenly over [lo, hi) along each dimension.
inline void add_uniform(DataSet& data, std::size_t points, double lo, double hi, std::uint64_t seed) {
  Random random(seed);
  for (std::size_t i = 0; i < points * data.dims; ++i) data.doubles.push_back(random.uniform(lo, hi));
}

/// Returns points that are spread evenly over the unit cube.
inline DataSet uniform_points(std::size_t points, std::size_t dims, std::uint64_t seed) {
  DataSet data{.kind = "uniform", .dims = dims};
  add_uniform(data, points, 0, 1, seed);
  return data;
}

/// Returns three round, well-separated blobs of 300 points.
inline DataSet three_blobs(std::uint64_t seed = 1) {
  return make_blobs({{{0, 0}, 0.7, 300}, {{10, 0}, 0.7, 300}, {{0, 10}, 0.7, 300}}, seed);
}

}  // namespace epsflow::test
