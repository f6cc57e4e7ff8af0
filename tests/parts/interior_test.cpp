#include <epsflow/parts/interior.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "support/catch.hpp"
#include "support/random_points.hpp"

#include <epsflow/parts/find_equal.hpp>
#include <epsflow/parts/ghosts.hpp>

namespace epsflow::parts {
namespace {

using test::Random;

/// Returns points in the unit cube: uniform, and many at the reach of ghosts from a cut or a face, up to the last bits.
template <class T>
Points make(std::size_t n, std::size_t d, const std::vector<double>& walls, double reach, Random& random) {
  Points points(n, d, std::is_same_v<T, float> ? Precision::float32 : Precision::float64);
  for (T& x : points.values<T>()) {
    x = static_cast<T>(random.unit());
    if (random.chance(0.7)) continue;
    x = static_cast<T>(random.pick(walls) + (random.chance(0.5) ? reach : -reach));
    const T to = random.chance(0.5) ? T{2} : T{-2};
    for (std::uint64_t ulps = random.below(3); ulps > 0; --ulps) x = std::nextafter(x, to);
    x = std::clamp(x, T{0}, std::nextafter(T{1}, T{0}));
  }
  return points;
}

template <class T>
void check(std::size_t d, std::size_t count, bool periodic) {
  constexpr double kReach = 0.01;
  CAPTURE(d, count, periodic, sizeof(T));
  Random random(100 * d + count);
  Points uniform(5000, d, Precision::float64);
  for (double& x : uniform.values<double>()) x = random.unit();
  const Partition partition = cut_space(uniform, count);
  std::vector<double> walls{0, 1};
  for (const Partition::Cut& cut : partition.cuts()) walls.push_back(cut.at);
  Space space;
  if (periodic) space.axes.assign(d, ClosedAxis{0, 1});
  const Points points = make<T>(10'007, d, walls, kReach, random);
  const GhostFinder finder(partition, space, d, kReach);
  const Interior<T> interior(partition, space, d, kReach);
  std::vector<std::uint16_t> parts(points.size());
  const T* const values = static_cast<const T*>(points.view().data());
  interior.find(values, parts);
  // Points a little farther from all cuts must be found, except the last ones, which do not fill a vector.
  const GhostFinder farther(partition, space, d, kReach + 1e-6);
  const bool few = count <= Interior<T>::kMostParts;
  bool right = true;
  std::size_t missing = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::uint32_t part = partition.part_of([&](std::size_t k) { return points.view().at(i, k); });
    const bool in = finder.inside(part, values + i * d);
    if (parts[i] != Interior<T>::kMixed) {
      right = right && few && in && parts[i] == part;
    } else {
      missing += farther.inside(part, values + i * d) ? 1 : 0;
    }
  }
  CHECK(right);
  if (few) CHECK(missing < 64);
}

}  // namespace

TEST_CASE("interior: points that are ghosts of no other part, and no others, are told their part") {
  for (const std::size_t d : {1U, 2U, 3U, 5U}) {
    for (const std::size_t count : {2U, 7U, 32U, 33U}) {
      for (const bool periodic : {false, true}) {
        check<float>(d, count, periodic);
        check<double>(d, count, periodic);
      }
    }
  }
}

TEST_CASE("interior: what is not finite takes a closer look") {
  const Partition partition({{0, 0.5, -1, -2}});
  const Interior<double> interior(partition, Space{}, 2, 0.01);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> points(2 * 64, nan);
  std::vector<std::uint16_t> parts(64, 7);
  interior.find(points.data(), parts);
  CHECK(parts == std::vector<std::uint16_t>(64, Interior<double>::kMixed));
}

TEST_CASE("interior: indices of equal values") {
  Random random(9);
  for (const std::size_t size : {0U, 1U, 31U, 64U, 1000U, 65'536U}) {
    std::vector<std::uint16_t> values(size), indices(size + kFoundBeyond);
    for (std::uint16_t& value : values) value = static_cast<std::uint16_t>(random.below(5) * 13'107);
    for (const std::uint16_t wanted :
         {std::uint16_t{0}, std::uint16_t{13'107}, std::uint16_t{52'428}, std::uint16_t{1}}) {
      std::vector<std::uint16_t> expected;
      for (std::size_t i = 0; i < size; ++i) {
        if (values[i] == wanted) expected.push_back(static_cast<std::uint16_t>(i));
      }
      const std::size_t found = find_equal(values, wanted, indices.data());
      CHECK(std::vector(indices.begin(), indices.begin() + static_cast<std::ptrdiff_t>(found)) == expected);
    }
  }
}

}  // namespace epsflow::parts
