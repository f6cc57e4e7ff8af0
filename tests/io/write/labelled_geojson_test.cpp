#include <epsflow/io/write/labelled_geojson.hpp>

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "io/io_test.hpp"

#include <epsflow/io/labelled_copy.hpp>
#include <epsflow/io/read_points.hpp>

namespace epsflow::io::test {
namespace {

using nlohmann::json;
const Metric kGreatcircle{.kind = MetricKind::greatcircle};
const Metric kHaversine{.kind = MetricKind::haversine};

/// Returns the GeoJSON of a text table. Its columns are in the order of the metric.
json copied(const std::string& text, const Metric& metric, const ReadOptions& options = {}, bool core = false) {
  const TempFolder folder;
  const std::vector<std::filesystem::path> files{folder.write("in.csv", text)};
  const FilePoints points = read_points(files, options);
  const LabelledCopy labelled(files, options, points, OutputFormat::geojson, core, metric);
  CHECK_FALSE(labelled.limit().empty());
  labelled.write(folder / "out.geojson", result_of(points), Overwrite::refuse);
  return json::parse(bytes_of_file(folder / "out.geojson"));
}

json feature(double longitude, double latitude, const json& properties) {
  return {{"type", "Feature"},
          {"geometry", {{"type", "Point"}, {"coordinates", {longitude, latitude}}}},
          {"properties", properties}};
}

}  // namespace

TEST_CASE("labelled geojson: longitude first, in degrees, every bit") {
  const json expected{
      {"type", "FeatureCollection"},
      {"features", {feature(0.1, -0.30000000000000004, {{"label", 0}}), feature(-0.5, 90, {{"label", -1}})}}};
  CHECK(copied("ra,dec\n0.1,-0.30000000000000004\n359.5,90\n", kGreatcircle) == expected);
  CHECK(copied("0.1,-0.30000000000000004\n359.5,90\n", kGreatcircle) == expected);
  CHECK(copied("dec,ra\n-0.30000000000000004,0.1\n90,359.5\n",
               {.kind = MetricKind::greatcircle, .latitude_first = true}) == expected);
  CHECK(copied("lat,lon\n-0.30000000000000004,0.1\n90,359.5\n", {}) == expected);
  CHECK(copied("lon,lat\n0.1,-0.30000000000000004\n359.5,90\n", {.kind = MetricKind::manhattan}) == expected);
}

TEST_CASE("labelled geojson: radians become degrees") {
  const json features = copied("1.5707963267948968,-3.1\n-0.5,0\n", kHaversine)["features"];
  CHECK(features[0] == feature(-3.1 * (180 / std::numbers::pi), 90, {{"label", 0}}));
  CHECK(features[1] == feature(0, -0.5 * (180 / std::numbers::pi), {{"label", -1}}));
}

TEST_CASE("labelled geojson: longitudes lie between -180 and 180, whatever names them") {
  const std::vector<std::pair<const char*, double>> longitudes{
      {"179.5", 179.5},    {"180", 180},      {"-180", -180}, {"180.5", -179.5}, {"359", -1},        {"360", 0},
      {"-180.25", 179.75}, {"-359.75", 0.25}, {"-360", 0},    {"540.5", -179.5}, {"719.875", -0.125}};
  std::string numbers;
  for (const auto& [text, longitude] : longitudes) numbers += std::string(text) + ",-17\n";
  for (const auto& [header, metric] :
       {std::pair("lon,lat\n", Metric{}), std::pair("", kGreatcircle), std::pair("ra,dec\n", kGreatcircle)}) {
    const json features = copied(header + numbers, metric)["features"];
    REQUIRE(features.size() == longitudes.size());
    for (std::size_t i = 0; i < longitudes.size(); ++i) {
      CAPTURE(longitudes[i].first, header);
      CHECK(features[i]["geometry"]["coordinates"] == json({longitudes[i].second, -17}));
    }
    CHECK(features.dump().find("-0.0,") == std::string::npos);
  }
  // 4 rad is more than half a turn and −6.25 rad less than −half a turn, so one turn of degrees is subtracted or added.
  const json radians = copied("0,4\n0,-6.25\n", kHaversine)["features"];
  CHECK(radians[0]["geometry"]["coordinates"][0] == 4 * (180 / std::numbers::pi) - 360);
  CHECK(radians[1]["geometry"]["coordinates"][0] == -6.25 * (180 / std::numbers::pi) + 360);
}

TEST_CASE("labelled geojson: core points, and rows where some were dropped") {
  const json features = copied("lon,lat\n1,2\nnan,2\n3,4\n", {}, {.on_nan = NanPolicy::drop}, true)["features"];
  CHECK(features[0] == feature(1, 2, {{"label", 0}, {"core", false}, {"row", 0}}));
  CHECK(features[1] == feature(3, 4, {{"label", -1}, {"core", true}, {"row", 2}}));
  CHECK(copied("lon,lat\nnan,2\n", {}, {.on_nan = NanPolicy::drop})["features"].empty());
}

TEST_CASE("labelled geojson: float32 in its own digits, and more than a block") {
  const TempFolder folder;
  FilePoints points(20'000, 2, Precision::float32);
  for (float& value : points.values<float>()) value = 0.1F;
  points.column_names = {"lon", "lat"};
  points.inputs = {{.name = "a", .kind = "", .rows = points.size(), .dropped = {}}};
  const VariantResult result = result_of(points);
  const Metric metric;
  write_geojson(folder / "o", folder / "o", {points, result, metric, false});
  const std::string text = bytes_of_file(folder / "o");
  CHECK(text.size() > std::size_t{1} << 20);
  CHECK(text.find("[0.1,0.1]") != std::string::npos);
  CHECK(json::parse(text)["features"].size() == 20'000);
}

TEST_CASE("labelled geojson: other data are refused") {
  const auto refused = [](const std::string& text, const Metric& metric = {}) {
    return error_of<UsageError>([&] { copied(text, metric); });
  };
  check_mentions(refused("x,y\n1,2\n"), {"longitudes and latitudes", "x, y", "MetricKind::greatcircle", ".csv"});
  check_mentions(refused("lon,lat,z\n1,2,3\n"), {"lon, lat, z", "ReadOptions::columns"});
  check_mentions(refused("1,2,3\n"), {"3 columns without names"});
  check_mentions(refused("lon,dec\n1,2\n"), {"the points are lon, dec", "MetricKind::greatcircle", ".csv"});
  const std::string radians = refused("lon_rad,lat_rad\n1,1\n");
  check_mentions(radians, {"'lon_rad', 'lat_rad' columns are in radians", "GeoJSON holds degrees", "rename", ".csv"});
  for (const std::string& text : {radians, refused("lon,dec\n1,2\n")}) {
    CHECK(text.find("greatcircle takes") == std::string::npos);
    CHECK(text.find("latitude_first") == std::string::npos);
  }
  check_mentions(error_of<InputError>([] { copied("lon,lat\n1,2\n10,91\n", {}); }),
                 {"longitude 10 and latitude 91 in row 1", ".csv"});
  check_mentions(error_of<InputError>([] { copied("lon,lat\n1000,2\n", {}); }), {"longitude 1000"});
}

}  // namespace epsflow::io::test
