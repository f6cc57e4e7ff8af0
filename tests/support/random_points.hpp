// Makes random data sets that are the same on every machine: the seed is enough to reproduce a failure.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "support/oracle.hpp"

#include <epsflow/core/points.hpp>

namespace epsflow::test {

/// Returns how many of `all` random sets a test uses: all, or an eighth under sanitizers, which take five to ten times
/// as long. Many sets are needed to show that every label is right, few to show that no memory is misused.
constexpr std::uint64_t sets_of(std::uint64_t all) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return (all + 7) / 8;
#else
  return all;
#endif
}

/// Draws random numbers without the standard library's distributions, whose results differ between implementations.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  std::uint64_t bits() { return engine_(); }
  /// Returns a number in 0 … n - 1.
  std::uint64_t below(std::uint64_t n) { return engine_() % n; }
  bool chance(double share) { return unit() < share; }
  double unit() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
  double uniform(double lo, double hi) { return lo + (hi - lo) * unit(); }
  /// Returns an approximately normal number with mean 0 and deviation 1.
  double bell() {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += unit();
    return sum;
  }
  template <class T>
  const T& pick(const std::vector<T>& values) {
    return values[below(values.size())];
  }
  template <class T>
  void shuffle(std::vector<T>& values) {
    for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[below(i)]);
  }
  /// Returns the numbers below n in random order.
  std::vector<std::size_t> order(std::size_t n) {
    std::vector<std::size_t> numbers(n);
    std::iota(numbers.begin(), numbers.end(), std::size_t{0});
    shuffle(numbers);
    return numbers;
  }
  /// Returns n numbers from lo to hi.
  std::vector<double> uniforms(std::size_t n, double lo, double hi) {
    std::vector<double> numbers(n);
    for (double& x : numbers) x = uniform(lo, hi);
    return numbers;
  }

 private:
  std::mt19937_64 engine_;
};

/// A data set in either precision. Exactly one of the vectors is in use.
struct DataSet {
  std::string kind = {};
  std::size_t dims = 1;
  Precision precision = Precision::float64;
  std::vector<float> floats = {};    ///< [n × dims]
  std::vector<double> doubles = {};  ///< [n × dims]
  double scale = 1;                  ///< a radius within which some points have neighbours, but not all

  [[nodiscard]] std::size_t size() const {
    return (precision == Precision::float32 ? floats.size() : doubles.size()) / dims;
  }
  [[nodiscard]] PointsView view() const {
    if (precision == Precision::float32) return {std::span<const float>(floats), dims};
    return {std::span<const double>(doubles), dims};
  }
  [[nodiscard]] OracleTable oracle(double eps) const {
    return precision == Precision::float32 ? oracle_table(floats, dims, eps) : oracle_table(doubles, dims, eps);
  }
  [[nodiscard]] double squared_distance(std::size_t i, std::size_t j) const {
    return precision == Precision::float32 ? oracle_squared_distance(&floats[i * dims], &floats[j * dims], dims)
                                           : oracle_squared_distance(&doubles[i * dims], &doubles[j * dims], dims);
  }
  /// Returns the points in another order. order: [n], the row of this set for each row.
  [[nodiscard]] DataSet reordered(std::span<const std::size_t> order) const {
    DataSet mixed = *this;
    for (std::size_t i = 0; i < order.size() * dims; ++i) {
      const std::size_t from = order[i / dims] * dims + i % dims;
      if (precision == Precision::float32) mixed.floats[i] = floats[from];
      if (precision == Precision::float64) mixed.doubles[i] = doubles[from];
    }
    return mixed;
  }
};

inline const std::vector<std::string>& data_kinds() {
  static const std::vector<std::string> kinds{
      "uniform",     "clustered", "quantised", "duplicates",   "all equal",     "collinear",   "offset 1e6",
      "offset 1e15", "tiny",      "denormal",  "outlier 1e15", "outlier 1e300", "log-uniform", "huge",
  };
  return kinds;
}

/// Returns n points of one kind. The same seed gives the same points.
inline DataSet make_data(const std::string& kind, std::size_t n, std::size_t dims, Precision precision,
                         std::uint64_t seed) {
  Random random(seed);
  DataSet data{.kind = kind, .dims = dims, .precision = precision};
  std::vector<double> x(n * dims);
  const double spread = std::pow(std::max<double>(static_cast<double>(n), 1) / 6, 1.0 / static_cast<double>(dims));
  const auto fill = [&](auto&& f) {
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = 0; k < dims; ++k) x[i * dims + k] = f(i, k);
    }
  };
  const auto fill_clustered = [&](double deviation) {
    const std::size_t centres = 1 + random.below(6);
    std::vector<double> at(centres * dims);
    for (double& c : at) c = random.uniform(-4, 4);
    fill([&, c = std::size_t{0}](std::size_t i, std::size_t k) mutable {
      if (k == 0) c = random.below(centres);
      return i % 7 == 0 ? random.uniform(-5, 5) : at[c * dims + k] + deviation * random.bell();
    });
  };
  if (kind == "uniform") {
    fill([&](std::size_t, std::size_t) { return random.uniform(-spread / 2, spread / 2); });
  } else if (kind == "clustered" || kind.starts_with("outlier")) {
    data.scale = 0.4;
    fill_clustered(0.3);
    const double far = kind == "outlier 1e15" ? 1e15 : (precision == Precision::float32 ? 1e38 : 1e300);
    if (n > 0 && kind != "clustered") x[random.below(n) * dims + random.below(dims)] = random.chance(0.5) ? far : -far;
  } else if (kind == "quantised") {
    // Multiples of 0.1 are not representable, so pairs lie at, just over and just under the radius.
    const double step = random.chance(0.5) ? 0.1 : 0.25;
    const std::uint64_t steps = 2 + random.below(12);
    data.scale = step;
    fill([&](std::size_t, std::size_t) { return static_cast<double>(random.below(steps)) * step; });
  } else if (kind == "duplicates") {
    const std::size_t distinct = std::max<std::size_t>(1, n / 5);
    std::vector<double> values(distinct * dims);
    for (double& v : values) v = random.uniform(0, 3);
    fill([&, which = std::size_t{0}](std::size_t, std::size_t k) mutable {
      if (k == 0) which = random.below(distinct);
      return values[which * dims + k];
    });
  } else if (kind == "all equal") {
    const double value = random.uniform(-1e3, 1e3);
    fill([&](std::size_t, std::size_t k) { return value + static_cast<double>(k); });
  } else if (kind == "collinear") {
    fill([&](std::size_t i, std::size_t k) { return k == 0 ? static_cast<double>(i % 61) * 0.5 : 7.0; });
  } else if (kind == "offset 1e6" || kind == "offset 1e15") {
    fill_clustered(0.5);
    // At 1e15 a float64 resolves eighths, so coordinates become quantised.
    const double offset = kind == "offset 1e6" ? 1e6 : 1e15;
    data.scale = precision == Precision::float32 && kind == "offset 1e15" ? 1e8 : 1;
    for (double& v : x) v = v * (data.scale > 1 ? data.scale : 1) + offset;
  } else if (kind == "tiny") {
    // Squares of these differences underflow or nearly underflow.
    data.scale = precision == Precision::float32 ? 1e-30 : 1e-160;
    fill_clustered(0.3);
    for (double& v : x) v *= data.scale;
  } else if (kind == "denormal") {
    data.scale = precision == Precision::float32 ? 1e-44 : 5e-324;
    fill([&](std::size_t, std::size_t) { return static_cast<double>(random.below(20)) * data.scale; });
  } else if (kind == "log-uniform") {
    // Values span twelve decades: at any eps, some regions are dense and others sparse.
    data.scale = 1e-3;
    fill([&](std::size_t, std::size_t) {
      return (random.chance(0.5) ? 1 : -1) * std::pow(10.0, random.uniform(-6, 6));
    });
  } else if (kind == "huge") {
    // Differences overflow, and so do their squares.
    const double top = precision == Precision::float32 ? 3e38 : 1.7e308;
    data.scale = top / 10;
    fill([&](std::size_t, std::size_t) { return top * (2 * random.unit() - 1); });
  }
  if (precision == Precision::float64) {
    data.doubles = std::move(x);
  } else {
    for (const double v : x) data.floats.push_back(static_cast<float>(v));
  }
  return data;
}

/// Returns a radius that is likely to find errors: around the scale of `data`, exactly the distance of two of its
/// points (or the next float64 below or above), or extreme.
inline double make_eps(const DataSet& data, Random& random) {
  const std::uint64_t way = random.below(10);
  double eps = data.scale;
  if (way < 4) {
    eps = data.scale * std::pow(2.0, random.uniform(-1.5, 1.5));
  } else if (way < 6 && data.kind == "quantised") {
    eps = data.scale * static_cast<double>(1 + random.below(4));
  } else if (way < 9 && data.size() > 1) {
    const double distance = std::sqrt(data.squared_distance(random.below(data.size()), random.below(data.size())));
    const std::uint64_t nudge = random.below(3);
    eps = nudge == 0 ? distance : std::nextafter(distance, nudge == 1 ? 0.0 : 1e308);
  } else if (way == 9) {
    const std::vector<double> extreme{1e-300, 1e-160, 1e-12, 1e3, 1e9, 1e155, 1e300};
    eps = random.pick(extreme);
  }
  return eps > 0 && std::isfinite(eps) ? eps : data.scale;
}

/// Returns the nearest radius that a run accepts: its square must be representable in float64.
inline double searchable(double eps) { return std::clamp(eps, 1.5e-154, 1.3e154); }

/// Returns a radius within which about `share` of all pairs of points lie: the distance of two of them. In many
/// dimensions all distances are alike, and `scale` would include all of them or none.
inline double eps_of_share(const DataSet& data, double share, std::uint64_t seed = 1) {
  if (data.size() < 2) return data.scale;
  Random random(seed);
  std::vector<double> distances;
  for (int i = 0; i < 400; ++i) {
    const std::uint64_t p = random.below(data.size());
    const std::uint64_t q = random.below(data.size());
    if (p != q) distances.push_back(std::sqrt(data.squared_distance(p, q)));
  }
  std::sort(distances.begin(), distances.end());
  const double eps = distances[static_cast<std::size_t>(share * static_cast<double>(distances.size() - 1))];
  return eps > 0 && std::isfinite(eps) ? eps : data.scale;
}

/// Returns a data set of random kind, size, dimensions and precision. It is small, and the smallest sizes are frequent.
inline DataSet random_data(std::uint64_t seed, std::size_t most_points) {
  Random random(seed);
  const std::string kind = random.pick(data_kinds());
  const std::size_t n = random.chance(0.1) ? random.below(5) : random.below(most_points + 1);
  const std::size_t dims = random.chance(0.6) ? 1 + random.below(3) : 1 + random.below(8);
  const Precision precision = random.chance(0.35) ? Precision::float32 : Precision::float64;
  return make_data(kind, n, dims, precision, random.bits());
}

inline std::string describe(const DataSet& data) {
  return data.kind + ", n " + std::to_string(data.size()) + ", d " + std::to_string(data.dims) +
         (data.precision == Precision::float32 ? ", float32" : ", float64");
}

}  // namespace epsflow::test
