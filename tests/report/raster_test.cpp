#include <epsflow/report/raster.hpp>

#include <map>
#include <random>

#include "support/catch.hpp"

#include <epsflow/report/planes.hpp>

namespace epsflow::report {
namespace {

TEST_CASE("clusters have values by rank of size, the lower label first, and the last is for all that are left") {
  CHECK(values_of(std::vector<std::uint64_t>{3, 9, 3}) == Bytes{kNoiseValue, 3, 2, 4});
  const Bytes many = values_of(std::vector<std::uint64_t>(300, 5));
  CHECK(many[1] == kFirstValue);
  CHECK(many[253] == 254);
  CHECK(many[254] == kOtherValue);
  CHECK(many[300] == kOtherValue);
}

TEST_CASE("a pixel is what most of its points are") {
  // Pixels 0, 2 and 5 of 3 × 2 have points.
  const std::vector<std::uint32_t> pixels{0, 0, 0, 2, 5, 5};
  const std::vector<std::int32_t> labels{1, -1, 1, -1, 0, 0};
  const Raster raster(3, 2, pixels);
  CHECK(std::vector<std::uint32_t>(raster.occupied().begin(), raster.occupied().end()) ==
        std::vector<std::uint32_t>{0, 2, 5});
  CHECK(raster.points_in(0) == 3);
  CHECK(raster.paint(labels, values_of(std::vector<std::uint64_t>{2, 2})) == Bytes{3, kNoiseValue, 2});
}

TEST_CASE("paint agrees with a count of each pixel, and coarser levels with one of its fours") {
  std::mt19937 random(3);
  constexpr std::uint32_t kWidth = 37, kHeight = 21;
  std::vector<std::uint32_t> pixels;
  std::vector<std::int32_t> labels;
  std::vector<std::uint64_t> sizes(6);
  for (int i = 0; i < 3000; ++i) {
    pixels.push_back(static_cast<std::uint32_t>(random() % kWidth * (random() % 2) + kWidth * (random() % kHeight)));
    labels.push_back(static_cast<std::int32_t>(random() % 7) - 1);
    if (labels.back() >= 0) ++sizes[static_cast<std::size_t>(labels.back())];
  }
  const Raster raster(kWidth, kHeight, pixels);
  const Bytes values = values_of(sizes);
  const Bytes painted = raster.paint(labels, values);
  using Counts = std::map<std::uint32_t, std::map<std::uint8_t, std::uint64_t>>;
  const auto best_of = [](const Counts& counts) {
    Bytes best;
    for (const auto& [pixel, of] : counts) {
      std::uint64_t most = 0;
      best.push_back(0);
      for (const auto& [value, count] : of) {
        if (count > most) best.back() = value;
        most = std::max(most, count);
      }
    }
    return best;
  };
  Counts fine;
  for (std::size_t i = 0; i < pixels.size(); ++i) ++fine[pixels[i]][values[static_cast<std::size_t>(labels[i] + 1)]];
  CHECK(painted == best_of(fine));

  const Pyramid pyramid(raster);
  CHECK(pyramid.at(0, painted) == painted);
  for (std::uint32_t level = 1; level < Pyramid::kLevels; ++level) {
    Counts coarse;
    const std::uint32_t width = ((kWidth - 1) >> level) + 1;
    for (std::size_t i = 0; i < painted.size(); ++i) {
      const std::uint32_t pixel = raster.occupied()[i];
      coarse[(pixel / kWidth >> level) * width + (pixel % kWidth >> level)][painted[i]] += raster.points_in(i);
    }
    INFO(level);
    CHECK(pyramid.at(level, painted) == best_of(coarse));
  }
}

TEST_CASE("which planes show points") {
  const auto planes = [](const std::vector<double>& values, std::size_t dims, const Metric& metric) {
    return planes_of(PointsView(values, dims), metric, {});
  };
  CHECK(planes({1, 2, 3}, 1, {}).size() == 1);
  CHECK(planes({1, 2, 3}, 1, {}).front().raster.height() == 1);
  const auto three = planes({0, 0, 0, 1, 2, 3}, 3, {});
  REQUIRE(three.size() == 3);
  CHECK((three[0].x.name == "x" && three[0].y.name == "y" && three[2].x.name == "y" && three[2].y.name == "z"));
  CHECK((three[2].y.from == 0 && three[2].y.to == 3));
  // Latitude is the vertical axis, in either column.
  const auto sphere = planes({50, 10, 60, 30}, 2, {.kind = MetricKind::greatcircle, .latitude_first = true});
  REQUIRE(sphere.size() == 1);
  CHECK((sphere[0].x.name == "longitude" && sphere[0].x.from == 10 && sphere[0].y.name == "latitude"));
  CHECK(sphere[0].x.unit == "°");
  // All points are equal, or there are no points.
  CHECK(planes({5, 5, 5, 5}, 2, {}).front().raster.occupied().size() == 1);
  CHECK(planes({}, 2, {}).front().raster.occupied().empty());
}

TEST_CASE("coordinates that hardly differ for their size, and some that float64 hardly holds, have pixels") {
  const double huge = 1.7e308;
  for (const auto& [a, b] : {std::pair(1.7e18, 1.7e18), std::pair(-3e15, -3e15), std::pair(-huge, huge)}) {
    const std::vector<double> values{a, 1, b, 2, a, 3};
    const auto planes = planes_of(PointsView(std::span<const double>(values), 2), {}, {});
    REQUIRE(planes.size() == 1);
    REQUIRE(planes[0].x.from < planes[0].x.to);
    REQUIRE(planes[0].raster.occupied().size() == 3);
  }
}

TEST_CASE("more than three dimensions are shown along their principal components") {
  std::mt19937 random(4);
  std::normal_distribution<double> normal;
  std::vector<double> values;
  for (int i = 0; i < 2000; ++i) {
    const double a = 10 * normal(random), b = 3 * normal(random);
    // The directions are (1, 1, 0, 0, 0) and (0, 0, 1, −1, 0), each of length √2.
    for (const double value : {a, a, b, -b, 0.1 * normal(random)}) values.push_back(value);
  }
  const auto planes = planes_of(PointsView(values, 5), {}, {});
  REQUIRE(planes.size() == 1);
  CHECK(planes[0].x.name == "component 1 (92 % of the variance)");
  CHECK(planes[0].y.name == "component 2 (8 % of the variance)");
  CHECK((planes[0].x.to > 35 && planes[0].x.to < 70));
  CHECK(planes[0].note.find("5 coordinates") != std::string::npos);
}

}  // namespace
}  // namespace epsflow::report
