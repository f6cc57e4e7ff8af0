#include <epsflow/sky/angle_units.hpp>

#include <cmath>
#include <numbers>

#include "support/catch.hpp"

namespace epsflow {
namespace {

TEST_CASE("angle units: names of each, and no others") {
  const auto degrees_of = [](std::string_view text) {
    const AngleUnit* const unit = find_angle_unit(text);
    return unit != nullptr ? unit->degrees : -1;
  };
  for (const char* text : {"deg", "Degrees", "DEG", "°", "[deg]", " (degree) ", "degrees_north"}) {
    CAPTURE(text);
    CHECK(degrees_of(text) == 1);
    CHECK(name_of_unit(text) == "deg");
  }
  CHECK(degrees_of("rad") == 180 / std::numbers::pi);
  CHECK(degrees_of("Radians") == 180 / std::numbers::pi);
  CHECK(degrees_of("arcmin") == 1. / 60);
  CHECK(degrees_of("arcsec") == 1. / 3600);
  CHECK(degrees_of("mas") == 1 / 3.6e6);
  CHECK(degrees_of("hourangle") == 15);
  for (const char* text :
       {"", "[]", "(", "h", "hour", "h:m:s", "d:m:s", "m", "s", "km", "Mas", "deg/s", "mas.yr**-1"}) {
    CAPTURE(text);
    CHECK(find_angle_unit(text) == nullptr);
  }
  CHECK(name_of_unit(" [km] ") == "km");
  CHECK(name_of_unit("log(cm.s**-2)") == "log(cm.s**-2)");
  CHECK(name_of_unit("(m)(s)") == "(m)(s)");
  CHECK(name_of_unit("M") != name_of_unit("m"));
}

TEST_CASE("angle units: degrees and radians of one agree") {
  for (const char* text : {"deg", "rad", "arcmin", "arcsec", "mas", "uas", "hourangle"}) {
    CAPTURE(text);
    const AngleUnit& unit = *find_angle_unit(text);
    CHECK(unit.name == text);
    CHECK(std::abs(unit.degrees * std::numbers::pi / 180 / unit.radians - 1) < 1e-15);
    CHECK(unit.of_longitudes == (unit.name == "hourangle"));
  }
}

}  // namespace
}  // namespace epsflow
