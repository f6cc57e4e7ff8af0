// Points from a file, or generated: uniform:N:DIMS, clumps:N:DIMS, lattice:SIDE[:COUNT], haloes:N.
#pragma once

#include <tbb/parallel_for.h>

#include <cmath>
#include <cstring>
#include <numbers>
#include <string>
#include <vector>

#include <epsflow/io/read_points.hpp>

#include "made_haloes.hpp"

namespace epsflow::bench {

/// Returns the numbers after the colons of a description such as uniform:1000:3.
inline std::vector<std::uint64_t> numbers_of(const std::string& what) {
  std::vector<std::uint64_t> numbers;
  for (std::size_t at = what.find(':'); at != what.npos; at = what.find(':', at + 1)) {
    numbers.push_back(std::stoull(what.substr(at + 1)));
  }
  return numbers;
}

/// Makes `rows` points from number `first` on: what(i, to) writes the coordinates of point i.
template <class T>
Points make_each(std::size_t rows, std::size_t dims, std::size_t first, const auto& what) {
  Points points(rows, dims, sizeof(T) == 4 ? Precision::float32 : Precision::float64);
  T* const to = points.values<T>().data();
  tbb::parallel_for(std::size_t{0}, rows, [&](std::size_t i) { what(first + i, to + dims * i); });
  return points;
}

/// Returns the points that `rank` has of all `ranks`. what: a file, or kind and numbers as above. Generated points do
/// not depend on the ranks; they are float32, or T if they are uniform or clumps.
template <class T = float>
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
  if (what.starts_with("clumps:")) {  // 100 normal ones of deviation 0.01, and a fifth of uniform noise
    const std::size_t dims = numbers.at(1);
    return share(numbers[0], dims, T{}, [dims](std::size_t i, T* to) {
      for (std::size_t k = 0; k < dims; ++k) {
        const std::uint64_t at = (std::uint64_t{1} << 40) + 2 * (i * dims + k);
        const double first = random_number(at), second = random_number(at + 1);
        const double normal = std::sqrt(-2 * std::log(1 - first)) * std::cos(2 * std::numbers::pi * second);
        to[k] = static_cast<T>(i % 5 == 0 ? first : random_number(i / 5 % 100 * dims + k) + 0.01 * normal);
      }
    });
  }
  if (what.starts_with("lattice:")) {  // distance 1, in cubes of 100³ with gaps of 2; COUNT of them side by side
    const std::size_t side = numbers.at(0), count = numbers.size() > 1 ? numbers[1] : 1;
    const auto place = [](std::size_t i) { return static_cast<float>(i + i / 100); };
    return share(count * side * side * side, 3, 0.0F, [=](std::size_t i, float* to) {
      const std::size_t x = i / (side * side);
      to[0] = place(x % side) + static_cast<float>(x / side) * (place(side - 1) + 2);
      to[1] = place(i / side % side);
      to[2] = place(i % side);
    });
  }
  if (what.starts_with("haloes:")) {
    const double side = side_of_haloes(numbers.at(0));
    const std::vector<Halo> made = make_haloes(numbers[0], side);
    return share(numbers[0], 3, 0.0F,
                 [&](std::size_t i, float* to) { point_of_haloes(i, side, made.data(), made.size(), to); });
  }
  Points all = io::read_points(what);
  if (ranks == 1) return all;
  return all.view().visit([&](auto values) {
    using Value = typename decltype(values)::value_type;
    const std::size_t dims = all.dims();
    return share(all.size(), dims, Value{},
                 [&](std::size_t i, Value* to) { std::memcpy(to, values.data() + i * dims, dims * sizeof(Value)); });
  });
}

}  // namespace epsflow::bench
