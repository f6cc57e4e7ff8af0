#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <epsflow/core/format.hpp>
#include <epsflow/io/read_points.hpp>

#include "io/fits_samples.hpp"
#include "io/io_test.hpp"

namespace epsflow::io::test {
namespace {

TEST_CASE("fits: truth values are 0 and 1") {
  const TempFolder folder;
  const std::filesystem::path file = folder / "logical.fits";
  {
    FitsWriter fits(file);
    fits.table(BINARY_TBL, "T", {{"OK", "1L"}, {"TWO", "2L"}});
    fits.write_logical(1, {1, 0, 1});
    fits.write_logical(2, {1, 0, 0, 1, 1, 1});
    fits.write_null(1, 3);
  }
  CHECK(values_of(read_points(file, {.columns = {"TWO[1]", "TWO[0]"}})) == Values{0, 1, 1, 0, 1, 1});
  check_mentions(refusal(file, {.columns = {"OK"}}), {"row 2", "'OK'", "nan"});
  const FilePoints kept = read_points(file, {.columns = {"OK"}, .on_nan = NanPolicy::drop});
  CHECK(values_of(kept) == Values{1, 0});
  CHECK(kept.inputs[0].dropped == std::vector<std::uint64_t>{2});
  std::string bytes = bytes_of_file(file);
  bytes[5760] = 'X';
  check_mentions(refusal(folder.write("x.fits", bytes), {.columns = {"OK"}}),
                 {"x.fits", "'OK'", "'X'", "neither T nor F"});
}

TEST_CASE("fits: nulls, NaN and scaling") {
  const TempFolder folder;
  const std::filesystem::path file = folder / "nulls.fits";
  {
    FitsWriter fits(file);
    fits.table(BINARY_TBL, "T", {{"I", "1J"}, {"F", "1E"}, {"S", "1I"}, {"E", "1E"}});
    fits.key("TNULL1", -99);
    fits.key("TSCAL3", 0.5);
    fits.key("TZERO3", 100.0);
    fits.key("TSCAL4", 0.25);
    fits.apply_keys();
    fits.write(1, {1, 2, 3});
    fits.write(2, {1, 2, std::numeric_limits<double>::quiet_NaN()});
    fits.write(3, {100.5, 101, 101.5});
    fits.write(4, {1, 2, 3});
    fits.write_null(1, 2);
  }
  check_mentions(refusal(file, {.columns = {"S", "I"}}), {"nulls.fits", "row 1", "'I'", "nan", "on"});
  check_mentions(refusal(file, {.columns = {"F"}}), {"row 2", "'F'"});
  const FilePoints kept = read_points(file, {.on_nan = NanPolicy::drop});
  CHECK(values_of(kept) == Values{1, 1, 100.5, 1});
  CHECK(kept.dropped_rows() == 2);
  for (const auto& [column, values] : {std::pair{"S", Values{100.5, 101, 101.5}}, {"E", Values{1, 2, 3}}}) {
    const FilePoints scaled = read_points(file, {.columns = {column}});
    CHECK(scaled.precision() == Precision::float64);
    CHECK(values_of(scaled) == values);
  }
}

/// Writes an ASCII table with the given fields in column X, and numbers from 0 on in Y.
std::filesystem::path write_fields(const TempFolder& folder, const std::string& form, const char* null,
                                   const std::vector<std::string>& fields) {
  std::filesystem::path file = folder / "ascii.fits";
  std::filesystem::remove(file);
  FitsWriter fits(file);
  fits.table(ASCII_TBL, "T", {{"X", form}, {"Y", "F10.2"}});
  if (null != nullptr) fits.key("TNULL1", null);
  Values rows(fields.size());
  for (std::size_t i = 0; i < fields.size(); ++i) rows[i] = static_cast<double>(i);
  fits.write(2, rows);
  for (std::size_t i = 0; i < fields.size(); ++i) fits.write_bytes(static_cast<int>(i) + 1, 1, fields[i]);
  return file;
}

TEST_CASE("fits: a field of an ASCII table is a null if it is TNULL but for blanks at its ends") {
  struct Case {
    const char* null;
    std::vector<std::string> fields;  ///< numbers and nulls
    Values kept;
  };
  const TempFolder folder;
  const std::string form = GENERATE("I10", "F10.4", "E10.3", "D10.3");
  const std::vector<Case> cases{
      {"-99", {"       -99", "-99       ", "   -99    ", "       100", "      -990"}, {100, -990}},
      {"-9", {"-9        ", "        -9", " -99      ", "        -8", "    9     "}, {-99, -8, 9}},
      {" ", {"          ", "        11", " 22       "}, {11, 22}},
      {"NaN", {"NaN       ", "       NaN", "         7"}, {7}},
      {"---", {"---       ", "       ---", "   ---    ", "        -3"}, {-3}},
      {"*", {"*********", "         *", "         4"}, {}},
      {"N/A", {"       N/A", "  N/A     ", "         0"}, {0}},
      {"0", {"         0", "0         ", "        10", "        01", "          "}, {10, 1, 0}}};
  for (const Case& each : cases) {
    CAPTURE(form, each.null);
    std::vector<std::string> fields = each.fields;
    // An implicit decimal point would change numbers without a point.
    if (form[0] != 'I') {
      for (std::string& field : fields) {
        const std::string text(trim(field));
        if (text.empty() || text == each.null || text.find_first_not_of("-0123456789") != std::string::npos) continue;
        field = std::string(9 - text.size(), ' ') + text + ".";
      }
    }
    const auto file = write_fields(folder, form, each.null, fields);
    if (each.kept.empty()) {
      check_mentions(refusal(file, {.columns = {"X"}, .on_nan = NanPolicy::drop}),
                     {"row 0, column 'X' is '*********', not a number"});
      continue;
    }
    CHECK(values_of(read_points(file, {.columns = {"X"}, .on_nan = NanPolicy::drop})) == each.kept);
    check_mentions(refusal(file), {"ascii.fits", "row 0", "'X'", "nan"});
  }
}

TEST_CASE("fits: nulls of ASCII tables are found before values are scaled") {
  const TempFolder folder;
  const std::filesystem::path file = folder / "scaled.fits";
  {
    FitsWriter fits(file);
    fits.table(ASCII_TBL, "T", {{"X", "I6"}, {"W", "F8.2"}});
    fits.key("TSCAL1", 0.5);
    fits.key("TZERO1", 100.0);
    fits.key("TNULL1", "-1");
    fits.key("TNULL2", "-1.00");
    fits.write(2, {0, 0, 0, 0});
    fits.write_bytes(1, 1, "    -1     2.00");
    fits.write_bytes(2, 1, "    -2     1.00");
    fits.write_bytes(3, 1, "     4    -1.00");
    fits.write_bytes(4, 1, "     6     4.00");
  }
  const FilePoints points = read_points(file, {.columns = {"X"}, .weight = "W", .on_nan = NanPolicy::drop});
  CHECK(values_of(points) == Values{99, 103});
  CHECK(points.weights == Values{1, 4});
  CHECK(points.inputs[0].dropped == std::vector<std::uint64_t>{0, 2});
}

TEST_CASE("fits: numbers of ASCII tables as Fortran writes them, to the last digit") {
  const TempFolder folder;
  const auto number = [&](const std::string& form, const std::string& text) {
    return values_of(read_points(write_fields(folder, form, nullptr, {text}), {.columns = {"X"}})).at(0);
  };
  const std::vector<std::pair<std::string, double>> fields{{"0.1", 0.1},
                                                           {"1.5E+03", 1500},
                                                           {"1.5D+03", 1500},
                                                           {"1.5D-3", 1.5e-3},
                                                           {"1.5+3", 1500},
                                                           {"1.5-03", 1.5e-3},
                                                           {"-.25", -0.25},
                                                           {"+7.", 7},
                                                           {"- 7.5", -7.5},
                                                           {"1 234.5", 1234.5},
                                                           {"1.5E", 1.5},
                                                           {"1e5", 10},
                                                           {"12345", 1.2345},
                                                           {"-5", -5e-4},
                                                           {"12345E2", 123.45},
                                                           {"", 0},
                                                           {"2.2250738585072014D-308", 0x1p-1022},
                                                           {"0.30000000000000004", 0.30000000000000004},
                                                           {"179769313486231570.E+291", 1.7976931348623157e308}};
  for (const auto& [text, value] : fields) {
    CAPTURE(text);
    CHECK(number("F25.4", std::string(25 - text.size(), ' ') + text) == value);
    CHECK(number("E25.4", text + std::string(25 - text.size(), ' ')) == value);
  }
  CHECK(number("I10", "  12      ") == 12);
  CHECK(number("E10.3", "       5.1") == 5.1);  // float32 would round it
  for (const char* text : {"--", "-", ".", "N/A", "1.2.3", "12abc", "E5", "1E5x", "1,5", "12 E+ x"}) {
    const std::string refused =
        error_of<InputError>([&] { number("F10.4", text + std::string(10 - std::string(text).size(), ' ')); });
    check_mentions(refused, {"ascii.fits", "row 0, column 'X' is '" + std::string(text) + "', not a number", "TNULL1"});
    CHECK(refused.find("damaged") == std::string::npos);
  }
  check_mentions(error_of<InputError>([&] { number("F10.4", "       nan"); }), {"row 0, column 'X' is nan"});
}

TEST_CASE("fits: nulls of binary integers are those that are stored, whatever the scale") {
  const TempFolder folder;
  const std::filesystem::path file = folder / "binary.fits";
  {
    FitsWriter fits(file);
    // The columns are unsigned 16, 32 and 64 bits, signed bytes, unsigned bytes, scaled integers and a vector.
    fits.table(BINARY_TBL, "T",
               {{"U", "1U"}, {"V", "1V"}, {"W", "1W"}, {"S", "1S"}, {"B", "1B"}, {"I", "1I"}, {"A", "2J"}});
    fits.key("TNULL1", -32768);
    fits.key("TNULL2", -1);
    fits.key("TNULL3", -1);
    fits.key("TNULL4", 255);
    fits.key("TNULL5", 0);
    fits.key("TNULL6", 7);
    fits.key("TSCAL6", 0.5);
    fits.key("TZERO6", 100.0);
    fits.key("TNULL7", -99);
    fits.apply_keys();
    fits.write(1, {5, 32768, 65535});
    fits.write(2, {0, 2147483648.0, 4294967295.0});
    fits.write(3, {0, 9223372036854775808.0, 4096});
    fits.write(4, {-128, 0, 126});
    fits.write(5, {1, 128, 255});
    fits.write(6, {100, 103, 104});
    for (int column = 1; column <= 6; ++column) fits.write_null(column, 4);
    fits.write(7, {1, 2, 3, 4, 5, 6, 7, -99});
  }
  const std::vector<std::pair<std::string, Values>> columns{{"U", {5, 32768, 65535}},
                                                            {"V", {0, 2147483648.0, 4294967295.0}},
                                                            {"W", {0, 9223372036854775808.0, 4096}},
                                                            {"S", {-128, 0, 126}},
                                                            {"B", {1, 128, 255}},
                                                            {"I", {100, 103, 104}},
                                                            {"A[1]", {2, 4, 6}}};
  for (const auto& [column, values] : columns) {
    CAPTURE(column);
    const FilePoints points = read_points(file, {.columns = {column}, .on_nan = NanPolicy::drop});
    CHECK(values_of(points) == values);
    CHECK(points.inputs[0].dropped == std::vector<std::uint64_t>{3});
  }
  CHECK(values_of(read_points(file, {.columns = {"A[0]"}})) == Values{1, 3, 5, 7});
}

TEST_CASE("fits: denormals stay what they are") {
  const TempFolder folder;
  const std::filesystem::path file = folder / "small.fits";
  const Values values{5e-324, 1e-310, -2e-308};
  FitsWriter(file).table(BINARY_TBL, "T", {{"D", "1D", values}});
  CHECK(values_of(read_points(file)) == values);
}

TEST_CASE("fits: integers of ASCII tables that float64 rounds are refused, others kept") {
  const TempFolder folder;
  const std::filesystem::path file = folder / "ascii.fits";
  const auto read_integer = [&](const std::string& text) {
    std::filesystem::remove(file);
    {
      FitsWriter fits(file);
      fits.table(ASCII_TBL, "T", {{"A", "F10.3", {1.125, -2.25}}, {"ID", "I25", {3, 4}}});
      fits.write_bytes(2, 12, std::string(25 - text.size(), ' ') + text);
    }
    return values_of(read_points(file));
  };
  CHECK(read_integer("9007199254740991") == Values{1.125, 3, -2.25, 9007199254740991});
  CHECK(read_integer("-9007199254740994") == Values{1.125, 3, -2.25, -9007199254740994});
  CHECK(read_integer("+1152921504606846976") == Values{1.125, 3, -2.25, 1152921504606846976});
  CHECK(read_integer("9223372036854775808") == Values{1.125, 3, -2.25, 9223372036854775808.0});
  CHECK(read_integer("-18014398509481984000000") == Values{1.125, 3, -2.25, -18014398509481984000000.0});
  for (const char* text : {"9007199254740994.0", "0009007199254740994.", "9.007199254740994E15", "+9007199254740994D0",
                           "900719925474099.4E+01", "90071992547409940E-1"}) {
    INFO(text);
    CHECK(read_integer(text) == Values{1.125, 3, -2.25, 9007199254740994});
  }
  for (const char* text : {"9007199254740993", "-1152921504606846977", "1152921504606846977", "99999999999999999999",
                           "18014398509481984000001", "9007199254740993.0", "9007199254740994.5",
                           "9.007199254740993E15", "9007199254740994E300"}) {
    check_mentions(error_of<InputError>([&] { read_integer(text); }),
                   {"ascii.fits", "row 1", "'ID'", text, "2^53", "ReadOptions::columns"});
  }
}

TEST_CASE("fits: more rows than cfitsio reads at once, no rows, one row") {
  const TempFolder folder;
  const std::filesystem::path file = folder / "many.fits";
  const std::size_t n = GENERATE(0, 1, 100000);
  Values x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<double>(i);
  FitsWriter(file).table(BINARY_TBL, "T", {{"A", "1D", x}, {"B", "1K", x}});
  const FilePoints points = read_points(file);
  CHECK(points.dims() == 2);
  check_rows(points, n, [&](auto i) { return Values{x[i], x[i]}; });
  if (n == 0) return;
  check_mentions(refusal<ResourceError>(file, {.memory = n * 16 - 1}),
                 {"many.fits", format_count(n * 16, "byte"), "memory"});
}

TEST_CASE("fits: integers that float64 would round are refused, where their column is used") {
  const TempFolder folder;
  const std::filesystem::path file = folder / "ids.fits";
  std::vector<LONGLONG> ids{1, 2, (LONGLONG{1} << 53) + 1};
  {
    FitsWriter fits(file);
    fits.table(BINARY_TBL, "T", {{"X", "1D", {1, 2, 0x1p60}}, {"ID", "1K"}, {"PAIR", "2K"}});
    fits.write_integers(2, ids);
    fits.write_integers(3, {1, 2, 3, ids[2], 5, 6});
  }
  const auto refused = [&](const std::string& column) { return refusal(file, {.columns = {column}}); };
  check_mentions(refused("ID"), {"row 2, column 'ID' is 9007199254740993", "offset", "ReadOptions::columns"});
  check_mentions(refused("PAIR[1]"), {"row 1, column 'PAIR[1]' is 9007199254740993"});
  CHECK(values_of(read_points(file, {.columns = {"X", "PAIR[0]"}})) == Values{1, 1, 2, 3, 0x1p60, 5});
  // The reader skips rows of other shares.
  CHECK(values_of(read_points(file, {.columns = {"ID"}, .share = {0, 3}})) == Values{1});
}

}  // namespace
}  // namespace epsflow::io::test
