// Points from a file, or generated. Generated points are the same on every machine.
#pragma once

#include <tbb/parallel_for.h>

#include <cmath>
#include <cstring>
#include <numbers>
#include <string>
#include <vector>

#include <epsflow/core/metric.hpp>
#include <epsflow/core/scatter.hpp>
#include <epsflow/io/generate.hpp>
#include <epsflow/io/read_points.hpp>

#include "bench.hpp"

namespace epsflow::bench {

/// Returns number i of a sequence of random numbers in [0, 1).
inline double random_number(std::uint64_t i) { return static_cast<double>(scatter(i * kScatterStep) >> 11) * 0x1p-53; }

inline constexpr std::uint64_t kFirst = std::uint64_t{1} << 40;  // first number for points; smaller ones are for clumps

/// Points that resemble the data set h10 (benchmarks/results/README.md) with its density: 2,000 haloes for each million
/// points, of power-law sizes, over a uniform background in a periodic box.
class Haloes {
 public:
  explicit Haloes(std::uint64_t points)
      : side_(250 * std::cbrt(static_cast<double>(points) / 1e7)), haloes_(points < 500 ? 1 : points / 500) {
    double sum = 0;
    for (std::uint64_t h = 0; h < haloes_.size(); ++h) {
      for (unsigned k = 0; k < 3; ++k) haloes_[h].centre[k] = side_ * random_number(4 * h + k);
      // Masses from 1 to 10⁴, dN/dM ~ M^-1.9.
      const double mass = std::pow(1 - random_number(4 * h + 3) * (1 - std::pow(1e-4, 0.9)), -1 / 0.9);
      haloes_[h].radius = 0.2 * std::cbrt(mass);
      haloes_[h].share = sum += mass;
    }
  }
  /// Writes the coordinates x, y, z of point i to `to`.
  void operator()(std::uint64_t i, float* to) const {
    const std::uint64_t first = kFirst + 8 * i;
    if (random_number(first) < 0.4) {
      for (unsigned k = 0; k < 3; ++k) to[k] = static_cast<float>(side_ * random_number(first + 1 + k));
      return;
    }
    const double sought = random_number(first + 1) * haloes_.back().share;
    const Halo& halo = *std::ranges::lower_bound(haloes_, sought, {}, &Halo::share);
    const double r = halo.radius * random_number(first + 2);  // density falls as 1/r²
    const double z = 2 * random_number(first + 3) - 1;
    const double angle = 2 * std::numbers::pi * random_number(first + 4);
    const double flat = std::sqrt(1 - z * z);
    const double direction[] = {flat * std::cos(angle), flat * std::sin(angle), z};
    for (unsigned k = 0; k < 3; ++k) {
      const double x = halo.centre[k] + r * direction[k];
      to[k] = static_cast<float>(x - side_ * std::floor(x / side_));
    }
  }

 private:
  struct Halo {
    double centre[3];
    double radius;  ///< the largest distance of a point from the centre
    double share;   ///< sum of the masses of this halo and those before it
  };
  double side_;
  std::vector<Halo> haloes_;
};

/// Makes `rows` points from number `first` on: what(i, to) writes the coordinates of point i.
template <class T>
Points make_each(std::size_t rows, std::size_t dims, std::size_t first, const auto& what) {
  Points points(rows, dims, sizeof(T) == 4 ? Precision::float32 : Precision::float64);
  T* const to = points.values<T>().data();
  tbb::parallel_for(std::size_t{0}, rows, [&](std::size_t i) { what(first + i, to + dims * i); });
  return points;
}

/// Returns the numbers after the colons of a description such as uniform:1000:3.
inline std::vector<std::uint64_t> numbers_of(const std::string& what) {
  std::vector<std::uint64_t> numbers;
  for (std::size_t at = what.find(':'); at != what.npos; at = what.find(':', at + 1)) {
    numbers.push_back(std::stoull(what.substr(at + 1)));
  }
  return numbers;
}

/// Returns the points that `rank` has of all `ranks`. what: POINTS of the help (bench.cpp). Generated points do not
/// depend on the ranks. Uniform points and clumps are of type T.
template <class T = double>
Points points_of(const std::string& what, std::size_t rank = 0, std::size_t ranks = 1) {
  const std::vector<std::uint64_t> numbers = numbers_of(what);
  const auto share = [&](std::size_t all, std::size_t dims, auto scalar, const auto& each) {
    const std::size_t first = all * rank / ranks;
    return make_each<decltype(scalar)>(all * (rank + 1) / ranks - first, dims, first, each);
  };
  if (what.starts_with("uniform:")) {
    const std::size_t dims = numbers.at(1);
    return share(numbers[0], dims, T{}, [dims](std::size_t i, T* to) {
      for (std::size_t k = 0; k < dims; ++k) to[k] = static_cast<T>(random_number(i * dims + k));
    });
  }
  if (what.starts_with("clumps:")) {
    const std::size_t dims = numbers.at(1);
    return share(numbers[0], dims, T{}, [dims](std::size_t i, T* to) {
      for (std::size_t k = 0; k < dims; ++k) {
        const std::uint64_t at = kFirst + 2 * (i * dims + k);
        const double first = random_number(at), second = random_number(at + 1);
        const double normal = std::sqrt(-2 * std::log(1 - first)) * std::cos(2 * std::numbers::pi * second);
        to[k] = static_cast<T>(i % 5 == 0 ? first : random_number(i / 5 % 100 * dims + k) + 0.01 * normal);
      }
    });
  }
  if (what.starts_with("lattice:")) {
    const std::size_t side = numbers.at(0), count = numbers.size() > 1 ? numbers[1] : 1;
    const auto coordinate = [](std::size_t i) { return static_cast<float>(i + i / 100); };
    return share(count * side * side * side, 3, 0.0F, [=](std::size_t i, float* to) {
      const std::size_t x = i / (side * side);
      to[0] = coordinate(x % side) + static_cast<float>(x / side) * (coordinate(side - 1) + 2);
      to[1] = coordinate(i / side % side);
      to[2] = coordinate(i % side);
    });
  }
  if (what.starts_with("haloes:")) return share(numbers.at(0), 3, 0.0F, Haloes(numbers[0]));
  io::GeneratorOptions generator;
  if (numbers.size() > 1) generator.dims = numbers[1];
  Points all = numbers.empty() ? Points(io::read_points(what))
                               : io::generate(what.substr(0, what.find(':')), numbers[0], generator);
  if (ranks == 1) return all;
  return all.view().visit([&](auto values) {
    using Value = typename decltype(values)::value_type;
    const std::size_t dims = all.dims();
    return share(all.size(), dims, Value{},
                 [&](std::size_t i, Value* to) { std::memcpy(to, values.data() + i * dims, dims * sizeof(Value)); });
  });
}

/// Returns the points of the first plain word, with --float32 rounded to this type.
inline Points points_of(const Words& words) {
  Points points = points_of(words[0]);
  if (!words.has("--float32") || points.precision() == Precision::float32) return points;
  const double* const from = points.values<double>().data();
  const std::size_t dims = points.dims();
  return make_each<float>(points.size(), dims, 0, [&](std::size_t i, float* to) {
    std::transform(from + i * dims, from + (i + 1) * dims, to, [](double x) { return static_cast<float>(x); });
  });
}

/// Returns the metric of the options, with a periodic box from 0 to --box along each axis.
inline Metric metric_of(const Words& words, std::size_t dims) {
  Metric metric = words.options<Metric>();
  if (const double length = words.real("--box", 0); length > 0) metric.box.assign(dims, {0, length});
  return metric;
}

}  // namespace epsflow::bench
