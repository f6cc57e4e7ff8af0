#include <epsflow/io/read/readers.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <epsflow/io/read_points.hpp>

#include "io/fits_samples.hpp"
#include "io/io_test.hpp"
#include "io/shares.hpp"

namespace epsflow::io::test {
namespace {

// Extension 1 "STARS": float32 RA and DEC, float64 Z, int32 N, text, vector, logical. "EVENTS": two columns.
std::filesystem::path write_sample(const TempFolder& folder, const std::string& name = "sample.fits") {
  const std::filesystem::path file = folder / name;
  FitsWriter fits(file);
  fits.table(BINARY_TBL, "STARS",
             {{"RA", "1E", {1.5, 2.5, 3.5}},
              {"Dec", "1E", {-1, -2, -3}},
              {"Z", "1D", {0.1, 0.2, 0.3}},
              {"N", "1J", {10, 20, 30}},
              {"NAME", "8A"},
              {"MAG", "3E"},
              {"OK", "1L"}});
  fits.write_text(5, {"a", "b", "c"});
  fits.table(BINARY_TBL, "EVENTS", {{"X", "1D", {7, 8}}, {"Y", "1I", {9, 10}}});
  return file;
}

TEST_CASE("fits reader: shares of the rows") {
  const TempFolder folder;
  const auto file = write_sample(folder);
  check_shares(file, {.columns = {"RA", "DEC"}, .weight = "z"});
  check_shares(file, {.table = "EVENTS"});
  Values x, y;
  for (int i = 0; i < 70'000; ++i) {
    x.push_back(i == 65'000 ? std::nan("") : i);
    y.push_back(-i);
  }
  FitsWriter(folder / "long.fits").table(BINARY_TBL, "LONG", {{"X", "1D", x}, {"Y", "1D", y}});
  const FilePoints share = read_points(folder / "long.fits", {.on_nan = NanPolicy::drop, .share = {2, 3}});
  REQUIRE(share.size() == 23'333);
  CHECK(share.inputs.front().dropped == std::vector<std::uint64_t>{65'000});
  const Values values = values_of(share);
  CHECK(values[0] == 46'666);
  CHECK(values.back() == -69'999);
  check_mentions(refusal(folder / "long.fits", {.share = {4, 5}}), {"row 65000"});
}

TEST_CASE("fits reader: the units of columns") {
  const TempFolder folder;
  for (const int kind : {BINARY_TBL, ASCII_TBL}) {
    const auto file = folder / (kind == BINARY_TBL ? "b.fits" : "a.fits");
    {
      FitsWriter fits(file);
      const std::string form = kind == BINARY_TBL ? "1D" : "D25.17";
      fits.table(kind, "STARS", {{"RA", form}, {"DEC", form}, {"Z", form}, {"MASS", form}});
      fits.key("TUNIT1", " hourangle");
      fits.key("TUNIT2", "deg");
      fits.key("TUNIT4", "kg");
      for (int column = 1; column <= 4; ++column) fits.write(column, {1, 2});
    }
    CHECK(read_points(file, {.columns = {"z", "dec", "ra"}}).inputs[0].units == Names{"", "deg", "hourangle"});
    CHECK(read_points(file, {.weight = "MASS"}).inputs[0].units == Names{"hourangle", "deg", ""});
    CHECK(read_points(file, {.columns = {"z"}}).inputs[0].units.empty());
  }
  // Each of several files has its own units.
  const auto other = folder / "c.fits";
  {
    FitsWriter fits(other);
    fits.table(BINARY_TBL, "STARS", {{"RA", "1D"}, {"POS", "2D"}});
    fits.key("TUNIT2", "mm");
    fits.write(1, {1});
  }
  CHECK(read_points(other, {.columns = {"POS[1]", "RA"}}).inputs[0].units == Names{"mm", ""});
  const FilePoints both = read_points(Paths{folder / "b.fits", other}, {.columns = {"RA"}});
  CHECK(both.inputs[0].units == Names{"hourangle"});
  CHECK(both.inputs[1].units.empty());
}

TEST_CASE("fits reader: weights, which leave float32 coordinates as they are") {
  const TempFolder folder;
  const auto file = write_sample(folder);
  for (const char* weight : {"z", "2"}) {
    const FilePoints points = read_points(file, {.columns = {"RA", "DEC"}, .weight = weight});
    CHECK(points.precision() == Precision::float32);
    CHECK(values_of(points) == Values{1.5, -1, 2.5, -2, 3.5, -3});
    CHECK(points.weights == Values{0.1, 0.2, 0.3});
    CHECK(points.weight_column == "Z");
    CHECK(points.column_names == Names{"RA", "Dec"});
  }
  check_mentions(refusal(file, {.columns = {"RA"}, .weight = "NAME"}),
                 {"sample.fits", "'NAME'", "8A", "not numbers", "ReadOptions::weight"});
  check_mentions(refusal(file, {.columns = {"RA"}, .weight = "MAG"}),
                 {"'MAG'", "3 values", "ReadOptions::weight", "'MAG[0]'"});
}

TEST_CASE("fits: columns by name and number, precision by their types") {
  const TempFolder folder;
  const std::filesystem::path file = write_sample(folder);
  const FilePoints single = read_points(file, {.columns = {"ra", "DEC"}});
  CHECK(single.precision() == Precision::float32);
  CHECK(values_of(single) == Values{1.5, -1, 2.5, -2, 3.5, -3});
  CHECK(single.column_names == Names{"RA", "Dec"});
  const FilePoints mixed = read_points(file, {.columns = {"Z", "0", "3"}});
  CHECK(mixed.precision() == Precision::float64);
  CHECK(values_of(mixed) == Values{0.1, 1.5, 10, 0.2, 2.5, 20, 0.3, 3.5, 30});
}

TEST_CASE("fits: tables by number and name") {
  const TempFolder folder;
  const std::filesystem::path file = write_sample(folder);
  const std::string table = GENERATE("2", "EVENTS", "events");
  CHECK(values_of(read_points(file, {.table = table})) == Values{7, 9, 8, 10});
  CHECK(values_of(read_points(file, {.columns = {"N"}, .table = "1"})) == Values{10, 20, 30});
  for (const char* missing : {"0", "3", "GALAXIES", "-1"}) {
    CAPTURE(missing);
    check_mentions(refusal(file, {.table = missing}),
                   {"sample.fits", missing, "ReadOptions::table", "1 (STARS), 2 (EVENTS)"});
  }
}

TEST_CASE("fits: vectors by element, counted from 0") {
  const TempFolder folder;
  const std::filesystem::path file = folder / "vectors.fits";
  FitsWriter(file).table(BINARY_TBL, "T",
                         {{"POS", "3E", {1, 2, 3, 4, 5, 6}},
                          {"ONE", "1D", {7, 8}},
                          {"N", "2J", {9, 10, 11, 12}},
                          {"NONE", "0D"},
                          {"a[1]", "1D", {13, 14}}});
  const FilePoints points = read_points(file, {.columns = {"POS[2]", "pos[0]"}});
  CHECK(points.precision() == Precision::float32);
  CHECK(values_of(points) == Values{3, 1, 6, 4});
  CHECK(points.column_names == Names{"POS[2]", "POS[0]"});
  CHECK(points.column_numbers == std::vector<std::size_t>{0, 0});
  CHECK(points.inputs[0].kind == "FITS table 1 (T)");
  CHECK(values_of(read_points(file, {.columns = {"2[1]", "ONE"}})) == Values{10, 7, 12, 8});
  CHECK(values_of(read_points(file, {.columns = {"ONE[0]", "a[1]"}})) == Values{7, 13, 8, 14});
  check_mentions(refusal(file, {.columns = {"POS"}}),
                 {"vectors.fits", "'POS'", "3 values", "'POS[0]'", "'POS[2]'", "from 0", "ReadOptions::columns"});
  check_mentions(refusal(file, {.columns = {"NONE"}}), {"'NONE'", "no values"});
  check_mentions(refusal(file, {.columns = {"VEL[0]"}}), {"'VEL'", "POS, ONE, N"});
}

TEST_CASE("fits: elements of long vectors of many rows") {
  const TempFolder folder;
  constexpr std::size_t kRows = 3000;
  constexpr std::size_t kElements = 50;
  Values values(kRows * kElements);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
  FitsWriter(folder / "long.fits").table(BINARY_TBL, "T", {{"V", "50D", values}});
  const FilePoints points = read_points(folder / "long.fits", {.columns = {"V[49]", "V[7]"}});
  check_rows(points, kRows, [&](auto i) { return Values{values[i * kElements + 49], values[i * kElements + 7]}; });
}

TEST_CASE("fits: columns of another table are pointed out") {
  const TempFolder folder;
  const std::filesystem::path file = write_sample(folder);
  check_mentions(refusal(file, {.columns = {"X", "Y"}}),
                 {"sample.fits", "table 1 (STARS)", "table 2 (EVENTS)", "ReadOptions::table = '2'"});
  check_mentions(refusal(file, {.columns = {"RA"}, .table = "EVENTS"}), {"ReadOptions::table = '1'"});
  check_mentions(refusal(file, {.columns = {"RA", "X"}}), {"no column 'X'"});
}

TEST_CASE("fits: names with cfitsio's own characters are plain names") {
  const TempFolder folder;
  const std::filesystem::path file = write_sample(folder, "a[1](b)+2 {c}.fits");
  CHECK(values_of(read_points(file, {.table = "EVENTS"})) == Values{7, 9, 8, 10});
}

}  // namespace
}  // namespace epsflow::io::test
