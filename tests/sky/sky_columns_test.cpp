#include <epsflow/sky/sky_columns.hpp>

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "support/catch.hpp"
#include "support/errors.hpp"

#include <epsflow/core/error.hpp>

namespace epsflow {
namespace {

using test::check_error;
using test::check_mentions;
using test::error_of;

using Names = std::vector<std::string>;
using Columns = std::vector<std::size_t>;
const Metric kGreatcircle{.kind = MetricKind::greatcircle};
const Metric kHaversine{.kind = MetricKind::haversine};

TEST_CASE("sky columns: columns of two tables are of one system unless both say otherwise") {
  CHECK(may_be_one_system(Names{"ra", "dec"}, Names{"RA_deg", "Dec"}));
  CHECK(may_be_one_system(Names{"ra", "dec"}, Names{"x", "y"}));
  CHECK(may_be_one_system(Names{"ra", "dec"}, Names{}));
  CHECK_FALSE(may_be_one_system(Names{"ra", "dec"}, Names{"l", "b"}));
  CHECK_FALSE(may_be_one_system(Names{"lon", "lat"}, Names{"ra", "dec"}));
}

TEST_CASE("sky columns: two names of one system, in whichever order they stand") {
  for (const Names& names : {Names{"lon", "lat"},
                             {"long", "LAT"},
                             {"lng", "lat"},
                             {"Longitude", "Latitude"},
                             {"decimalLongitude", "decimalLatitude"},
                             {"decimallongitude", "decimallatitude"},
                             {"pickup_longitude", "pickup_latitude"},
                             {"startLng", "startLat"},
                             {"lon1", "lat1"},
                             {"/lon", "/lat"},
                             {"ra", "dec"},
                             {"RA_deg", "Dec"},
                             {"RAdeg", "DEdeg"},
                             {"RA (J2000)", "Dec (J2000)"},
                             {"RAJ2000", "DEJ2000"},
                             {"_RAJ2000", "_DEJ2000"},
                             {"RA_ICRS", "DE_ICRS"},
                             {"ra2000", "dec2000"},
                             {"right_ascension", "declination"},
                             {"alpha", "delta"},
                             {"ALPHA_J2000", "DELTA_J2000"},
                             {"ALPHAWIN_J2000", "DELTAWIN_J2000"},
                             {"OBJRA", "OBJDEC"},
                             {"geolon", "geolat"},
                             {"l_gal", "b_gal"},
                             {"GLON", "GLAT"},
                             {"l", "b"},
                             {"ELON", "ELAT"},
                             {"ecl_lon", "ecl_lat"},
                             {"SGL", "SGB"},
                             {"pos.eq.ra;meta.main", "pos.eq.dec"},
                             {"pos.galactic.lon", "pos.galactic.lat"},
                             {"pos.earth.lon", "pos.earth.lat"},
                             {"pos.ecliptic.lon;meta.main", "pos.ecliptic.lat;meta.main"},
                             {"POS_EQ_RA_MAIN", "POS_EQ_DEC_MAIN"}}) {
    INFO(names[0] << ", " << names[1]);
    CHECK(sky_columns(names, kGreatcircle) == Columns{0, 1});
    CHECK(sky_columns(names, kHaversine) == Columns{1, 0});
    const Names swapped{names[1], names[0]};
    CHECK(sky_columns(swapped, kGreatcircle) == Columns{1, 0});
    CHECK(sky_columns(swapped, kHaversine) == Columns{0, 1});
    const Names among{"name", names[1], "magnitude", names[0], "z"};
    CHECK(sky_columns(among, kGreatcircle) == Columns{3, 1});
    CHECK(sky_columns(among, {.kind = MetricKind::greatcircle, .latitude_first = true}) == Columns{1, 3});
  }
}

TEST_CASE("sky columns: errors, motions and spreads beside coordinates are none") {
  CHECK(sky_columns(Names{"RArad", "DErad", "mu_ra", "mu_dec"}, kGreatcircle) == Columns{0, 1});
  CHECK(sky_columns(Names{"Lat", "Lon", "lat_sd", "lon_sd"}, kGreatcircle) == Columns{1, 0});
  const Names gaia{"ra", "ra_error", "dec", "dec_error", "ra_dec_corr", "pmra", "pm_ra", "pm_dec"};
  CHECK(sky_columns(gaia, kGreatcircle) == Columns{0, 2});
  CHECK(sky_columns(Names{"RAJ2000", "DEJ2000", "e_RAJ2000", "e_DEJ2000"}, kGreatcircle) == Columns{0, 1});
}

TEST_CASE("sky columns: names that do not tell") {
  for (const Names& names : {Names{},
                             {"ra"},
                             {"x", "y"},
                             {"0", "1"},
                             {"", ""},
                             {"lat_lon", "y"},
                             {"l_max", "delta_x"},
                             {"ra_error", "dec_error"},
                             {"name", "x", "y"},
                             {"name", "lat", "x"},
                             {"dec", "lon", "z"}}) {
    CHECK(sky_columns(names, kGreatcircle).empty());
    CHECK(sky_columns(names, kHaversine).empty());
  }
  CHECK(sky_columns(Names{"lat", "lon"}, Metric{}).empty());
  CHECK(sky_columns(Names{"lat", "lon"}, {.kind = MetricKind::cosine}).empty());
}

TEST_CASE("sky columns: two names that contradict each other, unless the caller has said which is which") {
  for (const Names& names : {Names{"lat", "x"},
                             {"x", "lat"},
                             {"dec", "lon"},
                             {"l", "dec"},
                             {"lat", "lat"},
                             {"ra", "lon"},
                             {"pickup_lon", "dropoff_lat"},
                             {"RAJ2000", "DE_ICRS"}}) {
    for (const Metric& metric : {kGreatcircle, kHaversine}) {
      const std::string text = error_of<UsageError>([&] { (void)sky_columns(names, metric); });
      check_mentions(text,
                     {"'" + names[0] + "', '" + names[1] + "'", "ReadOptions::columns", "Metric::latitude_first"});
    }
    CHECK(sky_columns(names, {.kind = MetricKind::greatcircle, .latitude_first = true}).empty());
  }
}

TEST_CASE("sky columns: a unit in a name that is not the metric's") {
  using Words = std::initializer_list<std::string_view>;
  const auto check_refused = [](const Names& names, const Metric& metric, Words words) {
    check_error<UsageError>(words, [&] { require_unit_of_names(names, metric); });
  };
  const Names radians{"lat_rad", "lon_rad"};
  const Names degrees{"RAdeg", "DEdeg"};
  check_refused(radians, kGreatcircle,
                {"names 'lat_rad', 'lon_rad' columns are in radians", "greatcircle takes degrees",
                 "MetricKind::haversine", "rename"});
  check_refused(degrees, kHaversine,
                {"names 'RAdeg', 'DEdeg' columns are in degrees", "haversine takes radians", "MetricKind::greatcircle",
                 "rename"});
  check_refused({"lonrad", "latrad"}, kGreatcircle, {"'lonrad', 'latrad' columns are in radians"});
  check_refused({"londeg", "latdeg"}, kHaversine, {"'londeg', 'latdeg' columns are in degrees"});
  for (const std::string name : {"raRad", "RArad", "decrad", "longitude (radians)", "l_rad"}) {
    check_refused({"lat", name}, kGreatcircle, {"names '" + name + "' columns"});
    require_unit_of_names(Names{"lat", name}, kHaversine);
  }
  for (const std::string unit : {"km", "meters", "arcsec", "arcmin", "mas", "hours", "hms", "dms"}) {
    const std::string text = "names 'lat_" + unit + "' columns are in " + unit;
    check_refused({"lon", "lat_" + unit}, kGreatcircle, {text, "takes degrees", "convert", "rename"});
    check_refused({"lon", "lat_" + unit}, kHaversine, {text, "takes radians", "convert", "rename"});
    require_unit_of_names(Names{"lon", "lat", "x_" + unit}, kGreatcircle);
  }
  CHECK(sky_columns(Names{"latrad", "id", "lonrad"}, kHaversine) == Columns{0, 2});
  for (const Names& names : {degrees, Names{"lat", "lon"}, Names{"x_rad", "rad"}, Names{"rad_error", "ra"}, Names{}}) {
    require_unit_of_names(names, kGreatcircle);
  }
  require_unit_of_names(Names{"x_deg", "decimalLatitude", "ra"}, kHaversine);
  require_unit_of_names(radians, Metric{});
}

TEST_CASE("sky columns: several pairs are the caller's to choose from") {
  for (const Names& names : {Names{"ra", "dec", "l", "b"},
                             {"pickup_lon", "pickup_lat", "dropoff_lon", "dropoff_lat"},
                             {"RAJ2000", "DEJ2000", "_RAJ2000", "_DEJ2000"},
                             {"RA_1", "DEC_1", "RA_2", "DEC_2"}}) {
    const std::string all = "'" + names[0] + "', '" + names[1] + "', '" + names[2] + "', '" + names[3] + "'";
    check_mentions(error_of<UsageError>([&] { (void)sky_columns(names, kGreatcircle); }),
                   {all, "ReadOptions::columns"});
  }
  check_mentions(error_of<UsageError>([] {
                   (void)sky_columns(Names{"ra", "ra", "dec"}, kGreatcircle);
                 }),
                 {"'ra', 'ra', 'dec'"});
}

}  // namespace
}  // namespace epsflow
