#include <epsflow/tracks/track_table.hpp>

#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include "support/catch.hpp"
#include "support/errors.hpp"
#include "tracks/slices.hpp"

#include <epsflow/core/error.hpp>
#include <epsflow/pipeline/on_threads.hpp>

namespace epsflow {
namespace {

using test::check_error;
using test::SliceList;

/// Returns the mean position of one slice whose points are one cluster.
std::vector<double> mean_of(const Metric& metric, const std::vector<std::vector<double>>& points) {
  SliceList slices;
  slices.metric = metric;
  slices.dims = points.front().size();
  for (const auto& point : points) slices.add(0, true, point, 0);
  slices.end_slice();
  Tracks found = find_tracks(slices.view(), {.eps = 1});
  return mean_positions(slices.view(), found);
}

void check_near(const std::vector<double>& found, const std::vector<double>& want) {
  REQUIRE(found.size() == want.size());
  for (std::size_t k = 0; k < want.size(); ++k) CHECK(found[k] == Approx(want[k]).margin(1e-9));
}

}  // namespace

TEST_CASE("track table: mean positions in plain space", "[tracks]") {
  check_near(mean_of({}, {{1, 2}, {3, 2}, {5, 8}}), {3, 4});
  CHECK(mean_of({}, {{0.1, 1e300}, {0.1, 1e300}, {0.1, 1e300}}) == std::vector<double>{0.1, 1e300});
}

TEST_CASE("track table: mean positions in a periodic box", "[tracks]") {
  const Metric box{.box = {{0, 10}, {}}};
  check_near(mean_of(box, {{9, 1}, {1, 3}}), {0, 2});
  check_near(mean_of(box, {{9.5, 1}, {0.1, 3}}), {9.8, 2});
  check_near(mean_of(box, {{9, 1}, {0, 1}, {2, 1}}), {1.0 / 3, 1});  // the mean of positions, not of directions
  check_near(mean_of(box, {{4, 1}, {6, 3}}), {5, 2});
  check_near(mean_of(box, {{2, 1}, {7, 3}}), {2, 2});  // opposite positions have no mean
  check_near(mean_of({.box = {{-5, 5}, {-5, 5}}}, {{4.5, -4}, {-4.5, 4}}), {-5, -5});
}

TEST_CASE("track table: mean positions on the sphere", "[tracks]") {
  const Metric degrees{.kind = MetricKind::greatcircle};
  check_near(mean_of(degrees, {{179, 0}, {-179, 0}}), {180, 0});
  check_near(mean_of(degrees, {{178, 0}, {-179, 0}}), {179.5, 0});
  check_near(mean_of(degrees, {{359, 0}, {1, 0}, {3, 0}}), {1, 0});
  check_near(mean_of(degrees, {{359, 0}, {358, 0}}), {358.5, 0});
  CHECK(mean_of(degrees, {{0, 80}, {90, 80}, {180, 80}, {-90, 80}})[1] == Approx(90));  // at any longitude
  check_near(mean_of(degrees, {{10, 0}, {-170, 0}}), {10, 0});  // opposite positions have no mean
  check_near(
      mean_of({.kind = MetricKind::greatcircle, .latitude_first = true}, {{10, 179}, {10, -179}}),
      {std::atan2(std::sin(std::numbers::pi / 18), std::cos(std::numbers::pi / 18) * std::cos(std::numbers::pi / 180)) *
           180 / std::numbers::pi,
       180});
  check_near(mean_of({.kind = MetricKind::haversine}, {{0.5, 0.1}, {-0.5, 0.1}}), {0, 0.1});
}

TEST_CASE("track table: rows have tobac's columns", "[tracks]") {
  const SliceList storm = test::random_storm(3, 12, 4);
  const TrackedSlices found = track(storm.view(), {.match = TrackMatch::ids}, {.threads = 2});
  REQUIRE(found.rows.size() == found.tracks.features.size());
  REQUIRE(!found.rows.empty());
  for (std::size_t f = 0; f < found.rows.size(); ++f) {
    const TrackRow& row = found.rows[f];
    const Feature& feature = found.tracks.features[f];
    CHECK(row.feature == f + 1);
    CHECK(row.frame == feature.slice);
    CHECK(row.idx == (f > 0 && found.rows[f - 1].frame == row.frame ? found.rows[f - 1].idx + 1 : 1));
    CHECK(row.num == feature.points);
    CHECK(row.cell == feature.cell);
    CHECK(row.track == feature.track);
    CHECK(std::isnan(row.lat));
    CHECK(std::isnan(row.z));
    double x = 0;
    for (std::size_t i = 0; i < storm.labels.size(); ++i) {
      if (found.tracks.feature_of[i] == f) x += storm.coordinates[2 * i];
    }
    CHECK(row.x == Approx(x / row.num));
  }
  SliceList radians;
  radians.metric = {.kind = MetricKind::haversine};
  radians.add(0, true, {0.5, 0.25}, 0);
  radians.end_slice();
  const TrackRow row = track(radians.view(), {.eps = 0.1}).rows.at(0);
  CHECK(row.y == 0.5);
  CHECK(row.x == 0.25);
  CHECK(row.lat == Approx(0.5 * 180 / std::numbers::pi));
  CHECK(row.lon == Approx(0.25 * 180 / std::numbers::pi));
  SlicedLabels without = storm.view();
  without.points = {};
  CHECK(std::isnan(track(without, {.match = TrackMatch::ids}).rows.at(0).x));
  check_error<UsageError>({"1 points", "the tracks were found in"},
                          [&] { (void)mean_positions(radians.view(), found.tracks); });
  check_error<ResourceError>({"memory"},
                             [&] { (void)track(storm.view(), {.match = TrackMatch::ids}, {.memory = 1000}); });
}

}  // namespace epsflow
