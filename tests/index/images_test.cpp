#include <epsflow/index/images.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/random_points.hpp"

#include <epsflow/index/distance.hpp>

namespace epsflow::index {
namespace {

using test::Random;

Space box(std::vector<ClosedAxis> axes) { return {.axes = std::move(axes)}; }

/// Returns multiples of 2^-20, so that sums with them are exact.
std::vector<double> in_box(const Space& space, std::size_t n) {
  Random random(n);
  std::vector<double> values;
  for (std::size_t i = 0; i < n; ++i) {
    for (const ClosedAxis& axis : space.axes) {
      const double steps = (axis.length > 0 ? axis.length : 5) * 0x1p20;
      const double u = i % 7 == 0 ? static_cast<double>(i % 2) : random.unit();
      values.push_back(axis.lo + std::floor(steps * u) * 0x1p-20);
    }
  }
  return values;
}

TEST_CASE("images: serve where a side holds two neighbourhoods, of straight lines and few dimensions") {
  const Space space = box({{0, 1}, {0, 0}, {-2, 4}});
  CHECK(images_serve(space, 0.49, 3));
  CHECK_FALSE(images_serve(space, 0.5, 3));
  CHECK_FALSE(images_serve({.norm = Norm::manhattan, .axes = space.axes}, 0.1, 3));
  CHECK_FALSE(images_serve({}, 0.1, 3));
  CHECK_FALSE(images_serve(box({{0, 1}, {0, 1}, {0, 1}, {0, 1}}), 0.1, 4));
}

TEST_CASE("images: those of all copies of the box that lie within two neighbourhoods of it, each once") {
  const std::vector<Space> spaces{box({{0, 1}}), box({{-3, 2}, {0, 0}}), box({{0, 1}, {5, 1.5}, {-1, 2}})};
  for (const Space& space : spaces) {
    const std::size_t dims = space.axes.size();
    const std::vector<double> values = in_box(space, 20000);
    const PointsView points(std::span<const double>(values), dims);
    for (const double eps : {0.01, 0.2, 0.3, 0.49}) {
      INFO(dims << "-D, eps " << eps);
      const Imaging imaging(space, eps, dims);
      const ImagedPoints made = make_images(points, imaging, CancelToken());
      REQUIRE(made.origins.size() == count_images(points, imaging));
      REQUIRE(made.points.size() == points.size() + made.origins.size());
      const double* const all = static_cast<const double*>(made.points.view().data());
      REQUIRE(std::equal(values.begin(), values.end(), all));
      std::map<std::uint32_t, std::vector<std::vector<double>>> images;
      for (std::size_t i = 0; i < made.origins.size(); ++i) {
        const double* const row = all + (points.size() + i) * dims;
        images[made.origins[i]].emplace_back(row, row + dims);
      }
      const double layer = 2 * neighbor_reach(eps);
      std::size_t missing = 0;
      std::size_t repeated = 0;
      std::size_t too_far = 0;
      for (std::uint32_t i = 0; i < points.size(); ++i) {
        std::vector<std::vector<double>> expected;
        for (int copy = 1; copy < 27; ++copy) {
          std::vector<double> moved;
          bool near = true;
          int rest = copy;
          for (std::size_t k = 0; k < 3; ++k, rest /= 3) {
            const int step = rest % 3 == 2 ? -1 : rest % 3;
            if (step != 0 && (k >= dims || space.axes[k].length == 0)) near = false;
            if (k >= dims) continue;
            const ClosedAxis& axis = space.axes[k];
            moved.push_back(points.at(i, k) + step * axis.length);
            const double beyond = std::max(axis.lo - moved[k], moved[k] - axis.lo - axis.length);
            if (step != 0 && beyond > layer) near = false;
          }
          if (near) expected.push_back(moved);
        }
        auto& found = images[i];
        std::sort(found.begin(), found.end());
        std::sort(expected.begin(), expected.end());
        // A few more images may lie just beyond, because of rounding.
        missing += std::includes(found.begin(), found.end(), expected.begin(), expected.end()) ? 0 : 1;
        repeated += std::adjacent_find(found.begin(), found.end()) == found.end() ? 0 : 1;
        for (const std::vector<double>& image : found) {
          for (std::size_t k = 0; k < dims; ++k) {
            const ClosedAxis& axis = space.axes[k];
            const double beyond = std::max(axis.lo - image[k], image[k] - axis.lo - axis.length);
            too_far += axis.length > 0 && beyond > layer * 1.01 ? 1 : 0;
          }
        }
      }
      CHECK(missing == 0);
      CHECK(repeated == 0);
      CHECK(too_far == 0);
    }
  }
}

TEST_CASE("images: as many of evenly spread points as expected") {
  const Space space = box({{0, 1}, {0, 0}, {0, 2}});
  Random random(3);
  std::vector<float> values(300000);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(random.unit()) * (i % 3 == 2 ? 2.0F : 1.0F);
  }
  const PointsView points(std::span<const float>(values), 3);
  for (const double eps : {0.01, 0.1, 0.4}) {
    const Imaging imaging(space, eps, 3);
    const double expected = imaging.even_share() * static_cast<double>(points.size());
    CHECK(static_cast<double>(count_images(points, imaging)) == Approx(expected).epsilon(0.03));
  }
}

TEST_CASE("images: none of points far from all faces, and of no points") {
  const Space space = box({{0, 10}, {0, 10}});
  const std::vector<double> values{5, 5, 4, 6};
  const PointsView points(std::span<const double>(values), 2);
  const Imaging imaging(space, 1, 2);
  CHECK(count_images(points, imaging) == 0);
  const ImagedPoints made = make_images(points, imaging, CancelToken());
  CHECK(made.points.size() == 2);
  CHECK(made.origins.size() == 0);
  CHECK(make_images(PointsView(std::span<const double>(), 2), imaging, CancelToken()).points.size() == 0);
}

TEST_CASE("images: a cancelled run makes none") {
  const std::vector<double> values{5, 5};
  CancelToken cancel;
  cancel.cancel();
  CHECK_THROWS_AS(make_images(PointsView(std::span<const double>(values), 2), {box({{0, 10}, {0, 10}}), 1, 2}, cancel),
                  Cancelled);
}

}  // namespace
}  // namespace epsflow::index
