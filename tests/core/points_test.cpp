#include <epsflow/core/points.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/errors.hpp"

#include <epsflow/core/error.hpp>

namespace epsflow {
namespace {

using test::check_mentions;
using test::error_of;

TEST_CASE("points view: shape, precision and values") {
  const std::vector<double> d{1, 2, 3, 4, 5, 6};
  const PointsView three(std::span<const double>(d), 2);
  CHECK(three.size() == 3);
  CHECK(three.dims() == 2);
  CHECK(three.precision() == Precision::float64);
  CHECK(three.bytes() == 48);
  CHECK(three.at(1, 0) == 3);
  CHECK(three.at(2, 1) == 6);

  const std::vector<float> f{0.1F, 0.2F, 0.3F};
  const PointsView one(std::span<const float>(f), 3);
  CHECK(one.size() == 1);
  CHECK(one.bytes() == 12);
  CHECK(one.at(0, 1) == static_cast<double>(0.2F));
  CHECK(one.visit([](auto values) { return sizeof(values[0]); }) == 4);
  CHECK(three.visit([](auto values) { return values.size(); }) == 6);

  CHECK(PointsView().size() == 0);
  CHECK(PointsView(std::span<const double>(), 7).size() == 0);
}

TEST_CASE("points view: shapes that cannot be are refused") {
  const std::vector<double> five(5);
  const std::span<const double> values(five);
  check_mentions(error_of<UsageError>([&] { (void)PointsView(values, 2); }), {"5", "2"});
  check_mentions(error_of<UsageError>([&] { (void)PointsView(values, 0); }), {"0 dimensions"});
  check_mentions(error_of<UsageError>([&] { (void)PointsView(std::span<const double>(), kMaxDims + 1); }),
                 {"4097", "4096"});
  const std::vector<float> widest(kMaxDims);
  CHECK(PointsView(std::span<const float>(widest), kMaxDims).size() == 1);
  // The check of the number of points reads no memory.
  const std::span<const float> too_many(widest.data(), std::size_t{0xFFFFFFFF});
  check_mentions(error_of<UsageError>([&] { (void)PointsView(too_many, 1); }), {"4294967295", "4294967294"});
}

TEST_CASE("points: filled, viewed and truncated") {
  Points points(4, 2, Precision::float32);
  CHECK(points.values<float>().size() == 8);
  for (std::size_t i = 0; i < 8; ++i) points.values<float>()[i] = static_cast<float>(i);
  const PointsView view = points;
  CHECK(view.at(3, 1) == 7);
  CHECK_THROWS_AS(points.values<double>(), Error);
  points.truncate(2);
  CHECK(points.size() == 2);
  CHECK(points.view().size() == 2);
  CHECK(points.values<float>().size() == 4);
  CHECK_THROWS_AS(points.truncate(3), Error);
  points.truncate(0);
  CHECK(points.view().size() == 0);

  Points doubles(1, 3, Precision::float64);
  CHECK_THROWS_AS(doubles.values<float>(), Error);
  doubles.values<double>()[2] = 9;
  const Points moved = std::move(doubles);
  CHECK(moved.view().at(0, 2) == 9);
}

TEST_CASE("points: sizes that cannot be are refused") {
  CHECK_THROWS_AS(Points(1, 0, Precision::float32), UsageError);
  CHECK_THROWS_AS(Points(1, kMaxDims + 1, Precision::float32), UsageError);
  CHECK_THROWS_AS(Points(0x1FFFFFFFFULL, 1, Precision::float32), UsageError);
  CHECK(Points(0, 3, Precision::float64).view().size() == 0);
  // 128 TiB are within the limits, but not available.
  CHECK_THROWS_AS(Points(kMaxPoints, kMaxDims, Precision::float64), ResourceError);
}

TEST_CASE("points: the first coordinate that is no number is named by row and column") {
  std::vector<double> values(30'000, 1.5);
  const auto check = [&] { require_finite(PointsView(std::span<const double>(values), 3)); };
  CHECK_NOTHROW(check());
  values[29'999] = -std::numeric_limits<double>::infinity();
  check_mentions(error_of<InputError>(check), {"row 9999", "column 2", "-inf"});
  values[12'301] = std::nan("");
  check_mentions(error_of<InputError>(check), {"row 4100", "column 1", "nan", "drop"});
  // A range of rows is checked alone, and rows keep their numbers.
  const PointsView points(std::span<const double>(values), 3);
  CHECK_NOTHROW(require_finite(points, 0, 4100));
  CHECK_NOTHROW(require_finite(points, 4101, 9999));
  check_mentions(error_of<InputError>([&] { require_finite(points, 4101, 10'000); }), {"row 9999", "column 2"});
  values[0] = std::numeric_limits<double>::infinity();
  check_mentions(error_of<InputError>(check), {"row 0", "column 0", "inf"});

  std::vector<float> floats{std::numeric_limits<float>::max(), std::numeric_limits<float>::denorm_min(), -0.0F};
  CHECK_NOTHROW(require_finite(PointsView(std::span<const float>(floats), 1)));
  floats[1] = std::numeric_limits<float>::quiet_NaN();
  check_mentions(error_of<InputError>([&] { require_finite(PointsView(std::span<const float>(floats), 1)); }),
                 {"row 1", "column 0"});
  CHECK_NOTHROW(require_finite(PointsView()));
}

}  // namespace
}  // namespace epsflow
