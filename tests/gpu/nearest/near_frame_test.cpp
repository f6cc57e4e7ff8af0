#include <epsflow/gpu/nearest/near_frame.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "support/catch.hpp"
#include "support/random_points.hpp"

#include <epsflow/index/distance.hpp>

namespace epsflow::gpu {
namespace {

using test::Random;

constexpr unsigned D = 3;

struct Point {
  double at[D];
};

double sum_of(const Point& p, const Point& q) {
  return index::squared_distance<D>([&](std::size_t k) { return p.at[k]; }, [&](std::size_t k) { return q.at[k]; }, D);
}

/// A group of points at some position, and candidates within it, around it and far from it.
struct Scene {
  std::vector<Point> group, candidates;
  double lo[D], hi[D];

  /// Every third scene may be so small that sums underflow.
  explicit Scene(std::uint64_t seed) {
    Random random(seed);
    const double size = std::pow(10.0, random.uniform(seed % 3 == 0 ? -300 : -120, 120));
    const double offset = random.chance(0.5) ? 0 : size * std::pow(10.0, random.uniform(-2, 16));
    double aspect[D];
    for (double& a : aspect) a = random.chance(0.3) ? 0 : std::pow(10.0, random.uniform(-6, 0));
    const auto make_point = [&](double spread) {
      Point p{};
      for (unsigned k = 0; k < D; ++k) p.at[k] = offset + size * aspect[k] * spread * random.uniform(-1, 1);
      return p;
    };
    for (int i = 0; i < 32; ++i) group.push_back(make_point(1));
    for (int i = 0; i < 300; ++i) candidates.push_back(make_point(std::pow(10.0, random.uniform(-3, 4))));
    candidates.insert(candidates.end(), group.begin(), group.end());
    for (unsigned k = 0; k < D; ++k) {
      const auto [least, most] = std::minmax_element(group.begin(), group.end(),
                                                     [&](const Point& a, const Point& b) { return a.at[k] < b.at[k]; });
      lo[k] = least->at[k];
      hi[k] = most->at[k];
    }
  }
};

TEST_CASE("near frame: the filter refuses nothing that is below the limit, and limits are above their sums") {
  std::uint64_t filtered = 0, all = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    INFO("seed " << seed);
    const Scene scene(seed);
    const auto frame = NearFrame<D>::of_box(scene.lo, scene.hi, 1);
    bool sound = true;
    for (const Point& p : scene.group) {
      for (const Point& q : scene.candidates) {
        const double sum = sum_of(p, q);
        const float near = near_sum<D>([&](unsigned k) { return frame.near(k, p.at[k]); },
                                       [&](unsigned k) { return frame.near(k, q.at[k]); });
        // This is the smallest limit above the sum.
        const double limit = std::nextafter(sum, std::numeric_limits<double>::infinity());
        sound = sound && passes_filter(near, frame.filter_limit(limit)) && sum < frame.limit_above(near);
        filtered += passes_filter(near, frame.filter_limit(sum * 0.99)) ? 0 : 1;
        ++all;
      }
    }
    REQUIRE(sound);
  }
  REQUIRE(filtered > all / 2);  // the filter must also be effective
}

TEST_CASE("near frame: infinite limits, boxes without a size, and coordinates beyond float32") {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double lo[D] = {5, 5, 5};
  const auto frame = NearFrame<D>::of_box(lo, lo, 0x1p-3);
  REQUIRE(frame.scale == 0x1p-3);
  REQUIRE(std::isinf(frame.filter_limit(kInfinity)));
  REQUIRE(std::isinf(frame.limit_above(std::numeric_limits<float>::infinity())));
  const float far = frame.near(0, 1e300);
  REQUIRE(std::isinf(far));
  REQUIRE(passes_filter(far, frame.filter_limit(kInfinity)));
  REQUIRE_FALSE(passes_filter(far, frame.filter_limit(1e10)));
}

TEST_CASE("near frame: sums of boxes are at most those of their points") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Scene scene(seed);
    for (std::size_t first = 0; first + 8 <= scene.candidates.size(); first += 8) {
      double lo[D], hi[D];
      for (unsigned k = 0; k < D; ++k) {
        lo[k] = hi[k] = scene.candidates[first].at[k];
        for (std::size_t i = first; i < first + 8; ++i) {
          lo[k] = std::min(lo[k], scene.candidates[i].at[k]);
          hi[k] = std::max(hi[k], scene.candidates[i].at[k]);
        }
      }
      const double bound = box_sum<D>(
          scene.lo, scene.hi, [&](unsigned k) { return lo[k]; }, [&](unsigned k) { return hi[k]; });
      double least = std::numeric_limits<double>::infinity();
      for (const Point& p : scene.group) {
        for (std::size_t i = first; i < first + 8; ++i) least = std::min(least, sum_of(p, scene.candidates[i]));
      }
      REQUIRE(bound <= least);
    }
  }
}

TEST_CASE("near frame: the k smallest of what is added") {
  Random random(1);
  for (unsigned k = 1; k <= 8; ++k) {
    Smallest<double, 8> smallest(k, std::numeric_limits<double>::infinity());
    std::vector<double> values;
    for (int i = 0; i < 40; ++i) {
      values.push_back(static_cast<double>(random.below(30)));
      smallest.add(values.back());
      std::sort(values.begin(), values.end());
      if (values.size() < k) continue;
      REQUIRE(smallest.last() == values[k - 1]);
      std::vector<double> found;
      smallest.for_each(k, [&](unsigned j, double value) {
        REQUIRE(j == found.size() + 1);
        found.push_back(value);
      });
      REQUIRE(found == std::vector<double>(values.begin(), values.begin() + k));
    }
  }
}

}  // namespace
}  // namespace epsflow::gpu
